/** Ending a program with SIGKILL: before each call that changes a file, and at random moments. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, preloading, type RunOptions, run, start } from './run.ts';
import { temporaryFolder } from './temp.ts';

/** Loaded into the program: kills it at the call whose number KILL_AT says, a write half done. */
const HOOK = `const fs = require('node:fs');
const last = Number(process.env.KILL_AT);
delete process.env.NODE_OPTIONS;
let calls = 0;
for (const name of ['openSync', 'writeSync', 'fsyncSync', 'fchmodSync', 'ftruncateSync',
  'renameSync', 'unlinkSync', 'mkdirSync', 'rmSync', 'rmdirSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    const isReading = name === 'openSync' && (args[1] === undefined || args[1] === 'r' || (args[1] & 3) === 0);
    const isOutput = name === 'writeSync' && args[0] < 3;
    if (!isReading && !isOutput) {
      calls += 1;
      if (calls === last) {
        if (name === 'writeSync') real(args[0], args[1], 0, args[1].length >> 1);
        process.kill(process.pid, 'SIGKILL');
      }
    }
    return real(...args);
  };
}
`;

let hook: string | undefined;

/** Runs a tool and kills it, not what it started, at its call number `at` that changes a file. */
export function endedAtCall(
  tool: string,
  args: readonly string[],
  at: number,
  options: RunOptions,
): Promise<Ended> {
  if (hook === undefined) {
    hook = join(temporaryFolder('hook'), 'kill.cjs');
    writeFileSync(hook, HOOK);
  }
  const env = { ...options.env, ...preloading(hook), KILL_AT: String(at) };
  return run(tool, args, { ...options, env });
}

/** Runs a tool that ends at its call number `at`; resolves whether it was killed before its end. */
export async function killedAtCall(
  tool: string,
  args: readonly string[],
  at: number,
  options: RunOptions,
): Promise<boolean> {
  const { signal, status, stderr } = await endedAtCall(tool, args, at, options);
  if (signal !== 'SIGKILL' && status !== 0)
    throw new Error(`${tool} ended with ${status}: ${stderr}`);
  return signal === 'SIGKILL';
}

/** Runs a tool and kills it, not what it started, after some milliseconds. */
export async function endedWithin(
  tool: string,
  args: readonly string[],
  milliseconds: number,
  options: RunOptions,
): Promise<Ended> {
  const running = start(tool, args, { stdin: '', ...options });
  const timer = setTimeout(() => {
    try {
      process.kill(running.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }, milliseconds);
  const ended = await running.done;
  clearTimeout(timer);
  return ended;
}

/** Runs a tool and kills it after some milliseconds; resolves whether it had not ended before. */
export async function killedAfter(
  tool: string,
  args: readonly string[],
  milliseconds: number,
  options: RunOptions,
): Promise<boolean> {
  const { signal, status, stderr } = await endedWithin(tool, args, milliseconds, options);
  if (signal !== 'SIGKILL' && status !== 0)
    throw new Error(`${tool} ended with ${status}: ${stderr}`);
  return signal === 'SIGKILL';
}
