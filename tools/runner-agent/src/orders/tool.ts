/** Runs the executables in the same directory. */
import { dirname, join } from 'node:path';
import { systemFailure } from '@runner/common/foundation/failure';
import { type JsonObject, jsonObject } from '@runner/common/text/json';
import type { Agent } from './agent.ts';

/** Runs another tool; returns its exit status and the last JSON object that it printed. */
export function runTool(
  { io, paths }: Pick<Agent, 'io' | 'paths'>,
  [tool, ...args]: readonly [string, ...string[]],
  { env, each }: { env?: Record<string, string>; each?: (line: JsonObject) => void } = {},
): Promise<{ status: number | null; last: JsonObject }> {
  // Slow to load, and most commands run nothing.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(join(dirname(io.program), tool), [...args, '--json', '--root', paths.root], {
    // Outlives the agent; the next one reads the outcome from the log.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...io.env, ...env },
  });
  let text = '';
  let last: JsonObject = {};
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (text + piece).split('\n');
    // Bounded: real lines are far shorter.
    text = (lines.pop() ?? '').slice(-1_048_576);
    for (const line of lines) {
      last = jsonObject(line) ?? last;
      each?.(last);
    }
  });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(systemFailure(error, `run ${tool}`, 'file_unreadable')));
    child.on('close', (status) => resolve({ status, last: jsonObject(text) ?? last }));
  });
}

/** In characters; the complete error is in the server's log. */
const MESSAGE_MAX = 300;

/** The beginning of the first line of an error. */
export const shortened = (error: unknown): string =>
  (String(error).split('\n')[0] ?? '').slice(0, MESSAGE_MAX);
