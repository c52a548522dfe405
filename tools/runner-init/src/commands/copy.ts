/** Copies what a commit of a checkout would have: neither what git ignores nor what a build made. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { ended } from '@runner/deploy/run/child';
import { gitEnvironment } from '@runner/deploy/run/environment';
import { cutOff } from '@runner/deploy/run/outside';

/** What no repository has, where no git says it. */
const MADE =
  '.git node_modules .venv venv __pycache__ target .next .nuxt .output .turbo _build deps'.split(
    ' ',
  );
/** Nothing that the checkout configures runs. */
const LIST = '-c core.fsmonitor=false ls-files -z --cached --others --exclude-standard'.split(' ');

/** Copies into an empty folder; links stay links. Throws `interrupted`, `file_unreadable`. */
export async function copyOf(
  io: Io,
  top: string,
  into: string,
  signal: AbortSignal,
): Promise<void> {
  const env = gitEnvironment(io.env);
  const start = (
    file: string,
    args: readonly string[],
    input: 'pipe' | 'ignore',
    output: 'pipe' | 'ignore',
  ) => cutOff(() => spawn(file, args, { cwd: top, env, signal, stdio: [input, output, 'ignore'] }));
  const write = ['--ignore-failed-read', '-cf', '-'];
  const isGit = existsSync(join(top, '.git'));
  const list = isGit ? start('git', LIST, 'ignore', 'pipe') : undefined;
  const named = ['--null', '--no-recursion', '-T', '-', ...write];
  const whole = [
    ...MADE.map((name) => `--exclude=./${name}`),
    ...MADE.map((name) => `--exclude=*/${name}`),
    ...write,
    '.',
  ];
  const from = start('tar', list ? named : whole, list ? 'pipe' : 'ignore', 'pipe');
  const to = start('tar', ['-x', '--no-same-owner', '-C', into, '-f', '-'], 'pipe', 'ignore');
  pipe(list, from);
  pipe(from, to);
  const all = [list, from, to].filter((each) => each !== undefined);
  const statuses = await Promise.all(all.map(ended));
  if (signal.aborted) throw new Failure('interrupted', 'interrupted');
  if (statuses.some((status) => status !== 0))
    throw new Failure('file_unreadable', `cannot copy the files of ${top}`);
}

function pipe(one: ChildProcess | undefined, other: ChildProcess): void {
  if (!one?.stdout || !other.stdin) return;
  other.stdin.on('error', () => {});
  one.stdout.pipe(other.stdin);
}
