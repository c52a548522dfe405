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

/**
 * The processes, except this one, that name one of the folders in their command line or
 * environment, stand in it or hold one of its files open.
 */
export function processesIn(...folders: string[]): Process[] {
  // The texts of /proc are read as latin1, so that no byte is lost.
  const needles = folders.map((folder) => Buffer.from(folder).toString('latin1'));
  return list('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const places = [
        read(`/proc/${pid}/cmdline`),
        read(`/proc/${pid}/environ`),
        ...[`cwd`, ...list(`/proc/${pid}/fd`).map((fd) => `fd/${fd}`)].map((link) =>
          Buffer.from(target(`/proc/${pid}/${link}`)).toString('latin1'),
        ),
      ];
      return places.some((place) => needles.some((needle) => place.includes(needle)));
    })
    .map((pid) => ({
      pid: Number(pid),
      command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
    }))
    .filter(({ command }) => command !== '');
}
