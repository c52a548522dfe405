/** What the short and the long tests of full disk share. */
import { spawnSync } from 'node:child_process';
import { atExit } from '@runner/testing/cleanup';

/** A folder on a small disk of its own, and how to fill it; undefined where none can be mounted. */
export function smallDisk(path: string, size: string) {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'none', path]);
  if (mounted.status !== 0) {
    process.stdout.write('skipped: only root can mount a small disk\n');
    return undefined;
  }
  const remove = () => void spawnSync('umount', ['-l', path]);
  atExit(remove);
  const fill = () => spawnSync('sh', ['-c', 'cat /dev/zero > full'], { cwd: path });
  return { remove, fill };
}
