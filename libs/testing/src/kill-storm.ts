/** `kill -9` at random moments, again and again on one root: what is left over must not add up. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type KilledCommand, runKilled } from './killing.ts';
import { type Ended, run } from './run.ts';
import { pathsBelow } from './temp.ts';

/** Commands that are killed one after the other, and what must be so after each. */
export interface Storm {
  /** What is run the next time; what it needs is made here. */
  readonly next: (time: number) => Promise<KilledCommand> | KilledCommand;
  /** Looks at what a killed or finished command has left; throws what is wrong. */
  readonly check: (ended: Ended, time: number) => Promise<void> | void;
}

/** One run in MEASURED is not killed: it shows how long a whole one takes on this machine now. */
const MEASURED = 8;

/** How the files of a root stand: whatever is written, renamed or removed changes it. */
function traceOf(root: string): string {
  try {
    return pathsBelow(root)
      .filter((path) => !path.startsWith('locks/'))
      .map((path) => {
        const { ino, size, mtimeNs } = lstatSync(join(root, path), { bigint: true });
        return `${path} ${ino} ${size} ${mtimeNs}`;
      })
      .join('\n');
  } catch {
    // What the killed one had started goes on and removes files.
    return 'changing';
  }
}

/** The message of an assertion, with what it has compared. */
function wordsOf(error: unknown): string {
  const { message, actual, expects } = error as {
    message?: string;
    actual?: unknown;
    expects?: unknown;
  };
  return [message, actual, expects].map((each) => JSON.stringify(each)).join('\n');
}

/** What is known of a command's runs. */
interface KnownState {
  runs: number;
  /** Milliseconds of a whole one. */
  whole: number;
  /** Calls of a whole one that change a file. */
  calls: number;
}

/**
 * Ends one run after the other: at a moment that is spread evenly at random over the time of a
 * whole one, or at a call that changes a file, any of them being as likely; one in eight is whole.
 */
function ending(root: string): (command: KilledCommand) => Promise<Ended> {
  const all = new Map<string, KnownState>();
  return async (command) => {
    const { tool, args, stdin = '', env = {} } = command;
    const name = `${tool} ${args[0]}`;
    const known = all.get(name) ?? { runs: 0, whole: 0, calls: 10 };
    all.set(name, known);
    const way = known.runs % MEASURED;
    known.runs += 1;
    if (way !== 0 && way % 2 === 0) {
      const call = Math.ceil(known.calls * (1 - Math.random()));
      const ended = await runKilled(command, { call }, root);
      if (ended.signal === null) known.calls = Math.max(1, call - 1);
      else if (call === known.calls) known.calls += 2;
      return ended;
    }
    const ms = known.whole * (0.05 + 0.95 * Math.random());
    const ended = await (way === 0
      ? run(tool, args, { root, stdin, env })
      : runKilled(command, { ms }, root));
    if (ended.signal === null) known.whole = ended.ms;
    return ended;
  };
}

/** Kills `times` runs. A run that ends before its moment does not count and is tried again. */
async function killAtRandom(root: string, times: number, { next, check }: Storm): Promise<string> {
  const end = ending(root);
  let [kills, amid, runs] = [0, 0, 0];
  const counts = () => `${kills} kills in ${runs} runs, ${amid} of them with files changed`;
  for (; kills < times; runs += 1) {
    if (runs >= 6 * times + 20) throw new Error(`only ${counts()}`);
    const command = await next(runs);
    const before = traceOf(root);
    const ended = await end(command);
    if (ended.signal !== null) {
      kills += 1;
      if (traceOf(root) !== before) amid += 1;
    } else if (ended.status !== 0)
      throw new Error(`${command.tool} ${command.args.join(' ')}: ${ended.stderr}`);
    try {
      await check(ended, runs);
    } catch (error) {
      throw new Error(`after ${counts()}, ${ended.signal}: ${ended.stderr}\n${wordsOf(error)}`);
    }
  }
  return counts();
}

/** A root, what is killed on it, and what ends it. */
export interface KillTarget {
  readonly root: string;
  readonly storm: Storm;
  readonly close?: () => void | Promise<void>;
}

/** A test that kills `times` runs, and prints how many of them had changed files. */
export function testStorm(
  test: (name: string, body: () => Promise<void>) => unknown,
  what: string,
  times: number,
  make: () => Promise<KillTarget>,
): void {
  test(`killed ${times} times, ${what}`, async () => {
    const { root, storm, close } = await make();
    try {
      process.stdout.write(`(${await killAtRandom(root, times, storm)}: ${what})\n`);
    } finally {
      await close?.();
    }
  });
}
