/** Folders on which writing fails, and losing the rights of root; what needs root says so. */
import { spawnSync } from 'node:child_process';

const mounted: string[] = [];

process.on('exit', () => {
  for (const folder of mounted) spawnSync('umount', ['-l', folder]);
});

/**
 * Mounts a small empty file system on an existing folder. False, with a line on stdout, where that
 * is not allowed: the caller then skips its test.
 */
export function mountTiny(folder: string, options: string): boolean {
  const done = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  if (done.status !== 0) {
    process.stdout.write(`(left out: mounting needs root and the capability to mount)\n`);
    return false;
  }
  mounted.push(folder);
  return true;
}

/** Runs `work` without the rights of root, which no file mode keeps out. */
export function asNobody<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  process.setegid?.(65_534);
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
