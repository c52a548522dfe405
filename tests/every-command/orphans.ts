/** Processes that still work on a root. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function linksIn(folder: string, names: readonly string[]): string[] {
  return names.map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      return '';
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Command lines of the processes that name the root, stand in it or hold a file of it. */
function workersOn(root: string): string[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const folder = `/proc/${pid}`;
      const places = [
        read(`${folder}/cmdline`),
        read(`${folder}/environ`),
        ...linksIn(folder, ['cwd']),
        ...linksIn(`${folder}/fd`, namesIn(`${folder}/fd`)),
      ];
      return places.some((place) => place.includes(root));
    })
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim())
    .filter((line) => line !== '');
}

/** Milliseconds after which what still runs was left behind. */
const PATIENCE = 60_000;

/**
 * What a command left running on a root, once all that is about to end has ended; `others` are not
 * its own.
 */
export async function orphansOf(root: string, others?: RegExp): Promise<string[]> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const left = workersOn(root).filter((line) => !others?.test(line));
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(20);
  }
}
