/**
 * Stops a program of ours at an exact moment: at one of its calls of fs, or after some time. There it is
 * killed with SIGKILL, waits, or meets a broken disk.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, preloading, run, start } from './run.ts';
import { temporaryFolder } from './temp.ts';
import { until } from './until.ts';

/**
 * A condition on a call of fs, in JavaScript: `name` and `args` are those of the call, `isChange` whether
 * it changes a file, `text(path)` reads one, and `count` starts at 0.
 */
export type Moment = string;

/** The call with this number, from 1, of those that change a file. */
const changeNumber = (at: number): Moment => `isChange && ++count === ${at}`;

/** The app's state was written with this stage. */
export const staged = (stage: string): Moment =>
  `name === 'renameSync' && args[1].endsWith('/state/shop.json') && text(args[1]).includes('"stage": "${stage}"')`;

/** The last line of the audit log has these texts. */
const lastRecordHas = (...texts: readonly string[]): Moment =>
  `${JSON.stringify(texts)}.every((each) => text(process.env.RUNNER_ROOT + '/logs/deploy-events.jsonl').trimEnd().split('\\n').at(-1).includes(each))`;

/** The last line of the audit log is of this kind. */
export const recorded = (kind: string): Moment =>
  `name === 'fdatasyncSync' && ${lastRecordHas(kind)}`;

/** The state with the success of v2 begins to be written. */
export const SUCCESS_OPENED: Moment = `name === 'openSync' && String(args[0]).includes('/state/.shop.json') && ${lastRecordHas('DeploySuccess', '"v2"')}`;

/** The state with the success of v2 was written. */
export const SUCCESS_WRITTEN: Moment = `name === 'renameSync' && args[1].endsWith('/state/shop.json') && ${lastRecordHas('DeploySuccess', '"v2"')}`;

/** The folder of the unfinished release was made. */
export const EXPORTING: Moment = `name === 'mkdirSync' && String(args[0]).includes('/.tmp-')`;

/** The release has its name. */
export const RENAMED: Moment = `name === 'renameSync' && args[0].includes('/.tmp-')`;

/** `current` was switched for the n-th time. */
export const switched = (times = 1): Moment =>
  `name === 'renameSync' && args[1].endsWith('/current') && ++count === ${times}`;

/** `current` is removed. */
export const SWITCHED_OFF: Moment = `name === 'unlinkSync' && args[0].endsWith('/current')`;

/** The file that carries a token to git has its name, for the first time. */
export const CREDENTIAL: Moment = `name === 'openSync' && String(args[0]).endsWith('/.credential.raw') && ++count === 1`;

const KILL = `process.kill(process.pid, 'SIGKILL');`;

/** Environment in which a program runs a piece of JavaScript before or after the call that is the moment. */
function hook(moment: Moment, side: 'before' | 'after', action: string): Record<string, string> {
  const file = join(temporaryFolder('hook'), 'hook.cjs');
  const [before, after] = ['before', 'after'].map((each) =>
    each === side ? `if (${moment}) { ${action} }` : '',
  );
  writeFileSync(
    file,
    `const fs = require('node:fs');
let count = 0;
// What the program starts is left alone.
delete process.env.NODE_OPTIONS;
const text = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch { return ''; } };
for (const name of ['openSync', 'writeSync', 'fsyncSync', 'fdatasyncSync', 'fchmodSync', 'ftruncateSync',
  'renameSync', 'unlinkSync', 'mkdirSync', 'rmSync', 'rmdirSync']) {
  const original = fs[name];
  fs[name] = (...args) => {
    const isReading = name === 'openSync' && (args[1] === undefined || args[1] === 'r' || (args[1] & 3) === 0);
    const isChange = !isReading && !(name === 'writeSync' && args[0] < 3);
    ${before}
    const result = original(...args);
    ${after}
    return result;
  };
}\n`,
  );
  return preloading(file);
}

/** Environment in which a program is killed right after the moment. */
export function killedAfter(moment: Moment): Record<string, string> {
  return hook(moment, 'after', KILL);
}

/** Environment in which the call that would be the moment fails as on a broken disk. */
export function failingAt(moment: Moment): Record<string, string> {
  const error = `Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })`;
  return hook(moment, 'before', `throw ${error};`);
}

/** A program that waits at a moment. */
export interface KillPause {
  readonly env: Record<string, string>;
  /** Resolves when the program is there. */
  readonly reached: () => Promise<void>;
  /** Lets it go on. */
  readonly end: () => void;
}

/** Environment in which a program waits `before` or `after` the call that is the moment. */
export function pausedAt(moment: Moment, side: 'before' | 'after'): KillPause {
  const folder = temporaryFolder('pause');
  const [there, go] = [join(folder, 'there'), join(folder, 'go')];
  const wait = `fs.writeFileSync(${JSON.stringify(there)}, '');
      const cell = new Int32Array(new SharedArrayBuffer(4));
      while (!fs.existsSync(${JSON.stringify(go)})) Atomics.wait(cell, 0, 0, 10);`;
  return {
    env: hook(moment, side, wait),
    reached: () => until(() => existsSync(there), 'the program has not come to the moment'),
    end: () => writeFileSync(go, ''),
  };
}

/** A command of ours. */
export interface KilledCommand {
  readonly tool: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** When a command is killed: at its n-th call that changes a file, a write half done, or after some time. */
export type Kill = { readonly call: number } | { readonly ms: number };

/** Runs a command and kills it, not what it started, unless it ends before. */
export async function runKilled(
  { tool, args, stdin = '', env = {} }: KilledCommand,
  kill: Kill,
  root: string,
): Promise<Ended> {
  if ('call' in kill) {
    const halfWrite = `if (name === 'writeSync') original(args[0], args[1], 0, args[1].length >> 1);`;
    const hooked = hook(changeNumber(kill.call), 'before', `${halfWrite} ${KILL}`);
    return run(tool, args, { root, stdin, env: { ...env, ...hooked } });
  }
  const running = start(tool, args, { root, stdin, env });
  const timer = setTimeout(() => {
    try {
      process.kill(running.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }, kill.ms);
  const ended = await running.done;
  clearTimeout(timer);
  return ended;
}

/** Resolves whether a command was killed before its end, which must be a success. */
export async function isKilled(command: KilledCommand, kill: Kill, root: string): Promise<boolean> {
  const { signal, status, stderr } = await runKilled(command, kill, root);
  if (signal !== 'SIGKILL' && status !== 0)
    throw new Error(`${command.tool} ended with ${status}: ${stderr}`);
  return signal === 'SIGKILL';
}

/** Calls `attempt` with 1, 2, … until nothing is killed any more; resolves how often that was. */
export async function killAtEachCall(attempt: (call: number) => Promise<boolean>): Promise<number> {
  let call = 1;
  while (await attempt(call)) call += 1;
  return call;
}
