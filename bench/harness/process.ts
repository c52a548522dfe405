/** What the kernel says of a process. */
import { readFileSync } from 'node:fs';

/** Milliseconds of processor time that it has taken. */
export function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in parentheses may have blanks in it.
  const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
  return (Number(fields[12]) + Number(fields[13])) * 10;
}

/** Megabytes of fields of /proc/PID/smaps_rollup or /proc/PID/status, together. */
export function memoryIn(text: string, ...fields: readonly string[]): number {
  const kilobytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return fields.reduce((sum, field) => sum + kilobytes(field), 0) / 1024;
}

/** Megabytes that would be free without it, from its smaps_rollup. */
export const privateIn = (text: string) => memoryIn(text, 'Private_Clean', 'Private_Dirty');

export const smapsOf = (pid: number) => readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
