/** Runs every escape attempt without the sandbox and in both of its profiles. */
import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '@runner/common/foundation/io';
import { mountsFor, type Profile } from '@runner/deploy/sandbox/mounts';
import { bubblewrap } from '@runner/deploy/sandbox/probe';
import { ATTEMPTS, type Attempt } from './attempts.ts';
import { type Decoy, makeDecoy } from './decoy.ts';

/** absent: this server has nothing of the kind to attack. */
export type Result = 'reached' | 'stopped' | 'absent';

/** One row of the table. */
export interface Tried {
  readonly group: string;
  readonly attempt: string;
  readonly without: Result;
  /** null if the sandbox cannot run. */
  readonly build: Result | null;
  readonly app: Result | null;
  /** Whether the app's own hooks and start command may do this. */
  readonly open_to_app: boolean;
}

/** What `runner doctor --sandbox` prints. */
export interface SandboxReport {
  /** Whether no attempt escaped. */
  readonly holds: boolean;
  /** Why the sandbox cannot run here; null if it can. */
  readonly problem: string | null;
  readonly escaped: number;
  readonly attempts: readonly Tried[];
}

/** In milliseconds. */
const TIMEOUT = 10_000;
/** How long to wait for the proof of a process that keeps running, in milliseconds. */
const LEFTOVER = 1_500;

export async function tryEscapes(io: Io): Promise<SandboxReport> {
  const found = bubblewrap(io.env);
  const program = 'program' in found ? found.program : undefined;
  const decoy = makeDecoy(io.env);
  try {
    const without = await tryAll(io, decoy, undefined, undefined);
    const build = program === undefined ? undefined : await tryAll(io, decoy, program, 'build');
    const app = program === undefined ? undefined : await tryAll(io, decoy, program, 'hook');
    const attempts = ATTEMPTS.map(({ group, name, isOpenToApp = false }, at) => {
      const outside = without[at] as Result;
      return {
        ...{ group, attempt: name, without: outside, open_to_app: isOpenToApp },
        ...{ build: inside(outside, build?.[at]), app: inside(outside, app?.[at]) },
      };
    });
    const escaped = attempts.filter(hasEscaped).length;
    const problem = 'problem' in found ? found.problem : null;
    return { holds: problem === null && escaped === 0, problem, escaped, attempts };
  } finally {
    decoy.remove();
  }
}

/** What exists on the server but cannot be seen in the sandbox counts as stopped. */
function inside(outside: Result, found: Result | undefined): Result | null {
  if (found === undefined) return null;
  if (outside === 'absent') return 'absent';
  return found === 'absent' ? 'stopped' : found;
}

/** Whether an attempt got out of a profile that should have stopped it. */
function hasEscaped({ build, app, open_to_app }: Tried): boolean {
  return build === 'reached' || (app === 'reached' && !open_to_app);
}

async function tryAll(
  io: Io,
  decoy: Decoy,
  program: string | undefined,
  profile: Profile | undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  const late: (() => void)[] = [];
  for (const [at, attempt] of ATTEMPTS.entries()) {
    const mark = `runner-escape-${process.pid}-${profile ?? 'without'}-${at}`;
    const folder = decoy.folder(`.tmp-${mark}`);
    const proof = join(folder, 'proof');
    results[at] = await tryOne(io, decoy, { program, profile, attempt, mark, folder, proof });
    if (attempt.group === 'leftovers') late.push(() => (results[at] = left(attempt, mark, proof)));
  }
  await new Promise((resolve) => setTimeout(resolve, LEFTOVER));
  for (const check of late) check();
  return results;
}

/** Whether an attempt left something on the server; removes it. */
function left({ script }: Attempt, mark: string, proof: string): Result {
  const files = [`/tmp/${mark}`, `/dev/shm/${mark}`];
  const place = files.find((file) => script.includes(file.slice(0, -mark.length))) ?? proof;
  const isLeft = existsSync(place);
  for (const file of files) rmSync(file, { force: true });
  return isLeft ? 'reached' : 'stopped';
}

interface Trial {
  readonly program: string | undefined;
  readonly profile: Profile | undefined;
  readonly attempt: Attempt;
  readonly mark: string;
  readonly folder: string;
  readonly proof: string;
}

function tryOne(
  io: Io,
  { paths, home, shared, runner, folder: folderOf }: Decoy,
  { program, profile, attempt, mark, folder, proof }: Trial,
): Promise<Result> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', TMPDIR } = io.env;
  const env = {
    ...{ PATH, ROOT: paths.root, OUTER_HOME: home, RUNNER: String(runner.pid) },
    ...{ NODE: process.execPath, MARK: mark, PROOF: proof },
  };
  const subject = {
    ...{ paths, app: 'escape', env: { PATH, HOME: home, ...(TMPDIR !== undefined && { TMPDIR }) } },
    ...{ allow: [], scratch: () => folderOf('.tmp-scratch') },
  };
  const command = ['/bin/sh', '-c', attempt.script];
  const folders = { release: folder, shared };
  const [file, ...args] =
    program === undefined || profile === undefined
      ? command
      : [program, ...mountsFor(profile, subject, folders), '--chdir', folder, '--', ...command];
  return new Promise((resolve) => {
    const options = { cwd: folder, env, stdio: 'ignore', detached: true } as const;
    const child = spawn(file as string, args, { ...options, timeout: TIMEOUT });
    child.once('error', () => resolve('stopped'));
    child.once('exit', (status) =>
      resolve(status === 0 ? 'reached' : status === 3 ? 'absent' : 'stopped'),
    );
  });
}
