/** What the processes of an instance use, as the kernel counts it. */

import { readdirSync, readFileSync } from 'node:fs';
import { orElse } from '../foundation/attempt.ts';
import { sessionOf, startTimeOf } from './process.ts';

/** What runs for an instance. */
export type Usage = NonNullable<ReturnType<typeof usageOf>>;

/** Clock ticks a second, as Linux reports them on every platform. */
const TICKS = 100;

/** The usage of these processes, the main one first, and of their sessions; undefined if they ended. */
export function usageOf(known: readonly number[]) {
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
  // Resident memory of all of them, and what of that they share with no file: it is free once they have ended.
  const [memory, own] = [sum(/^VmRSS:\s*(\d+) kB/m), sum(/^RssAnon:\s*(\d+) kB/m)];
  /** Seconds since the main process was started. */
  const up_s = Math.max(0, Math.round(sinceBoot - Number(start) / TICKS));
  return { pid, up_s, memory, own };
}

/** Empty if the process has ended. */
function textOf(path: string): string {
  return orElse(() => readFileSync(path, 'utf8'), '');
}
