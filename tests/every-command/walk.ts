/** Runs commands of the contract on copies of the stage, and looks for what should not be there. */
import { join } from 'node:path';
import { type Ended, type RunOptions, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import type { Call, Entry } from './entry.ts';
import type { Searcher } from './known-secrets.ts';
import type { Place, Situation } from './situations.ts';
import type { Stage } from './stage.ts';

export interface Walked {
  readonly ended: Ended;
  /** The code in brackets at the end of stderr, or in front of the words of wrong usage. */
  readonly code: string | undefined;
  /** Where a secret stands: `stdout: classic: raw`. */
  readonly leaks: readonly string[];
}

/** Where secrets stand by right: the key in its file, those of the chats in config.yml. */
export function isAllowed(path: string, secret: string): boolean {
  if (path === 'mkey') return secret === 'mkey';
  return path === 'config.yml' && /^(other )?(bot token|webhook)$/.test(secret);
}

/** `runner-tokens` and the words behind it. */
export function wordsOf({ command }: Entry): [tool: string, ...words: string[]] {
  const [name = '', ...words] = command.split(' ');
  return [`runner-${name}`, ...words];
}

export function argsOf({ args }: Call, stage: Stage): readonly string[] {
  return typeof args === 'function' ? args(stage) : args;
}

/** The code that a command printed on stderr; with `--json`, that of the last line of stdout. */
export function codeIn({ stderr, stdout }: Pick<Ended, 'stderr' | 'stdout'>): string | undefined {
  if (/^error: /m.test(stderr)) return 'usage';
  const told = [...stdout.matchAll(/^\{.*"error":"([a-z_]+)"/gm)].at(-1)?.[1];
  return told ?? /\(([a-z_]+)\)\n$/.exec(stderr)?.[1];
}

/** Runs a call in a situation; `started` gets the process id. */
export async function walk(
  { stage, searcher }: Readonly<{ stage: Stage; searcher: Searcher }>,
  { entry, call }: Readonly<{ entry: Entry; call: Call }>,
  situation: Situation | undefined,
  started: (pid: number) => void = () => {},
): Promise<Walked> {
  const folder = temporaryFolder('walk');
  const place: Place = { root: stage.copy(join(folder, 'root')), stage, after: [] };
  const more: RunOptions = (await situation?.(place)) ?? {};
  // What a situation has put there is not the command's doing.
  const before = new Set(searcher.below(place.root));
  const outside = { HOME: temporaryFolder('home'), TMPDIR: temporaryFolder('tmp') };
  const [tool, ...words] = wordsOf(entry);
  const running = start(tool, [...words, ...argsOf(call, stage)], {
    root: place.root,
    stdin: call.stdin?.(stage) ?? '',
    ...more,
    env: { ...stage.env, ...outside, ...more.env },
  });
  started(running.pid);
  const ended = await running.done;
  for (const action of place.after) action();
  stage.heal();
  const leaks = [
    ...searcher.inBytes(ended.stdoutBytes).map((found) => `stdout: ${found}`),
    ...searcher.inBytes(ended.stderr).map((found) => `stderr: ${found}`),
    ...searcher.below(place.root, isAllowed).filter((found) => !before.has(found)),
    ...Object.entries(outside).flatMap(([name, path]) =>
      searcher.below(path).map((found) => `${name}/${found}`),
    ),
  ];
  return { ended, code: codeIn(ended), leaks };
}
