/** Finding the processes that work in a folder, through /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** `null` for a process that has ended, or that belongs to another user. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

const read = (path: string) => orNull(() => readFileSync(path, 'latin1')) ?? '';
const list = (path: string) => orNull(() => readdirSync(path)) ?? [];
const target = (path: string) => orNull(() => readlinkSync(path)) ?? '';

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Whether a process names one of the texts in its environment, or one of its links; looks no further than it must. */
function touches(pid: string, needles: readonly string[]): boolean {
  const has = (place: string) => needles.some((needle) => place.includes(needle));
  const hasLink = (link: string) =>
    has(Buffer.from(target(`/proc/${pid}/${link}`)).toString('latin1'));
  return (
    hasLink('cwd') ||
    has(read(`/proc/${pid}/environ`)) ||
    list(`/proc/${pid}/fd`).some((fd) => hasLink(`fd/${fd}`))
  );
}

/** The processes, except this one, and their command lines; the texts of /proc are read as latin1, so that no byte is lost. */
function everyProcess(): { pid: string; line: string }[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ pid, line: read(`/proc/${pid}/cmdline`) }))
    .filter(({ line }) => line !== '');
}

const named = ({ pid, line }: { pid: string; line: string }): Process => ({
  pid: Number(pid),
  command: line.replaceAll('\0', ' ').trim(),
});

/**
 * The processes, except this one, that name one of the folders in their command line or
 * environment, stand in it or hold one of its files open.
 */
export function processesIn(...folders: string[]): Process[] {
  const needles = folders.map((folder) => Buffer.from(folder).toString('latin1'));
  return everyProcess()
    .filter(({ pid, line }) => needles.some((each) => line.includes(each)) || touches(pid, needles))
    .map(named);
}

/** Those of them whose command line matches: much faster on a machine with many processes. */
export function processesLike(command: RegExp, folder: string): Process[] {
  const needles = [Buffer.from(folder).toString('latin1')];
  return everyProcess()
    .filter((each) => command.test(named(each).command) && touches(each.pid, needles))
    .map(named);
}
