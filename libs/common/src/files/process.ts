/** Identifies a process by pid, start time and boot, since a pid is reused. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import { isThere, readTextIfThere } from './read.ts';

/** The record of a process that was started. */
export interface PidFile {
  pid: number;
  /** Start time of the process in clock ticks. */
  start_time: string;
  boot_id: string;
  /** Time it has to end after SIGTERM, in ms; absent in records of 0.1.0. */
  stop_timeout?: number;
  /** Leader of its session, if that is another process: in the sandbox. */
  session?: number;
}

/** Identity of this boot; '' where there is no /proc. */
export function bootId(): string {
  return orElse(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(), '');
}

/**
 * Fields 3 and later of /proc/PID/stat; empty without such a process, and for a zombie. A zombie with
 * a thread left has not ended: that thread keeps its files and ports open.
 */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in field 2 may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isZombie = fields[0] === 'Z' && Number(fields[17]) <= 1;
    return isZombie || fields[0] === 'X' ? [] : fields;
  } catch {
    return [];
  }
}

/** Field 22 of /proc/PID/stat; undefined without such a process, and for a zombie. */
export function startTimeOf(pid: number): string | undefined {
  return statOf(pid)[19];
}

/** A field of /proc/PID/stat as a number; undefined without such a process. */
const numberIn = (field: number) => (pid: number) => {
  const text = statOf(pid)[field - 3];
  return text === undefined ? undefined : Number(text);
};

/** What started it. */
export const parentOf = numberIn(4);
/** The leader of its process group. */
export const groupOf = numberIn(5);
/** The leader of its session. */
export const sessionOf = numberIn(6);

/** Whether a process is running, or waiting for a processor or the disk. */
export function isBusy(pid: number): boolean {
  return /^[RD]/.test(statOf(pid)[0] ?? '');
}

/** Flag of a process that is exiting, in field 9 of /proc/PID/stat. */
const EXITING = 0x4;

/** Whether a process has ended or is about to: without another thread it has no memory, files or ports. */
export function isEnding(pid: number): boolean {
  const fields = statOf(pid);
  const [flags, threads] = [Number(fields[6]), Number(fields[17])];
  return fields.length === 0 || ((flags & EXITING) !== 0 && threads <= 1);
}

/** The record of the process of `start.type: process`, in an instance's folder `run`. */
export function pidFileIn(run: string): string {
  return join(run, 'pid.json');
}

/** The record of a process that was started since the last boot; it may have ended. */
export function recordedProcess(run: string): PidFile | undefined {
  try {
    const file = JSON.parse(readTextIfThere(pidFileIn(run), 4096) ?? '') as PidFile;
    return file.boot_id === bootId() && Number.isInteger(file.pid) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** The pid of the recorded process; undefined if it no longer runs. */
export function runningPid(run: string): number | undefined {
  const file = recordedProcess(run);
  return file && startTimeOf(file.pid) === file.start_time ? file.pid : undefined;
}

/** Whether the recorded process runs; null without a record. */
export function isRunning(run: string): boolean | null {
  return orElse(() => (isThere(pidFileIn(run)) ? runningPid(run) !== undefined : null), null);
}
