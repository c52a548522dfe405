/** `kill -9` at random moments, again and again on one root: what is left over must not add up. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { endedAtCall, endedWithin } from '@runner/testing/killing';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { pathsBelow } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

export interface Attempt {
  readonly tool: string;
  readonly args: readonly string[];
  readonly stdin?: string;
}

export interface Storm {
  /** What is run the next time; what it needs is made here. */
  readonly next: (time: number) => Promise<Attempt> | Attempt;
  /** Looks at what a killed or finished command has left; throws what is wrong. */
  readonly check: (ended: Ended, time: number) => Promise<void> | void;
}

/** One run in MEASURED is not killed: it shows how long a whole one takes on this machine now. */
const MEASURED = 8;

/** Milliseconds for one run on a busy machine. */
const LIMIT = 180_000;

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
  const { message, actual, expects } = error as assert.Assertion;
  return [message, actual, expects].map((each) => JSON.stringify(each)).join('\n');
}

/**
 * How one run after the other ends: at a moment that is spread evenly at random over the time of a
 * whole one, or at a call that changes a file, any of them being as likely; one in eight is whole.
 */
function ways(): (attempt: Attempt, run: number, options: RunOptions) => Promise<Ended> {
  let whole = 0;
  let calls = 10;
  return async ({ tool, args }, time, options) => {
    const way = time % MEASURED;
    if (way !== 0 && way % 2 === 0) {
      const at = Math.ceil(calls * (1 - Math.random()));
      const ended = await endedAtCall(tool, args, at, options);
      if (ended.signal === null) calls = Math.max(1, at - 1);
      else if (at === calls) calls += 2;
      return ended;
    }
    const moment = whole * (0.05 + 0.95 * Math.random());
    const ended = await (way === 0
      ? run(tool, args, options)
      : endedWithin(tool, args, moment, options));
    if (ended.signal === null) whole = ended.ms;
    return ended;
  };
}

/**
 * Kills `times` runs. A run that ends before its moment does not count and is tried
 * again. Returns the counts.
 */
export async function storm(root: string, times: number, { next, check }: Storm): Promise<string> {
  const end = ways();
  let [kills, amid, runs] = [0, 0, 0];
  const counts = () => `${kills} kills in ${runs} runs, ${amid} of them with files changed`;
  for (; kills < times; runs += 1) {
    assert.ok(runs < 6 * times + 20, `only ${counts()}`);
    const attempt = await next(runs);
    const before = traceOf(root);
    const { tool, args, stdin = '' } = attempt;
    const ended = await end(attempt, runs, { root, stdin, timeout: LIMIT });
    if (ended.signal === null) {
      assert.is(ended.status, 0, `${tool} ${args.join(' ')}: ${ended.stderr}`);
    } else {
      kills += 1;
      if (traceOf(root) !== before) amid += 1;
    }
    try {
      await check(ended, runs);
    } catch (error) {
      throw new Error(`after ${counts()}, ${ended.signal}: ${ended.stderr}\n${wordsOf(error)}`);
    }
  }
  return counts();
}
