/** Whether bubblewrap can run on this machine. */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('bwrap', [
  ...['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  'true',
]);

/** False where the tests of the sandbox have nothing to run in; they are skipped. */
export const isAvailable = status === 0;

if (!isAvailable) console.log('skipped: bubblewrap cannot run here');
