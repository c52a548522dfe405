/** What the processes of an instance use, as the kernel counts it. */

import { readdirSync, readFileSync } from 'node:fs';
import { orElse } from '../foundation/attempt.ts';
import { sessionOf, startTimeOf } from './process.ts';

/** What runs for an instance. */
export interface Usage {
  /** Its main process. */
  pid: number;
  /** Seconds since that was started. */
  up_s: number;
  /** Resident memory of all of them, in bytes. */
  memory: number;
  /** Of that what they share with no file, in bytes: it is free once they have ended. */
  own: number;
}

/** Clock ticks a second, as Linux reports them on every platform. */
const TICKS = 100;

/** The usage of these processes, the main one first, and of their sessions; undefined if they ended. */
export function usageOf(known: readonly number[]): Usage | undefined {
  const [pid] = known;
  const start = pid === undefined ? undefined : startTimeOf(pid);
  if (pid === undefined || start === undefined) return undefined;
  const sessions = new Set(known.flatMap((each) => sessionOf(each) ?? []));
  const texts = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => known.includes(each) || sessions.has(sessionOf(each) ?? 0))
    .map((each) => textOf(`/proc/${each}/status`));
  const sum = (field: RegExp) =>
    texts.reduce((all, text) => all + Number(field.exec(text)?.[1] ?? 0) * 1024, 0);
  const sinceBoot = Number(textOf('/proc/uptime').split(' ')[0]);
  const [memory, own] = [sum(/^VmRSS:\s*(\d+) kB/m), sum(/^RssAnon:\s*(\d+) kB/m)];
  return { pid, up_s: Math.max(0, Math.round(sinceBoot - Number(start) / TICKS)), memory, own };
}

/** Empty if the process has ended. */
function textOf(path: string): string {
  return orElse(() => readFileSync(path, 'utf8'), '');
}
