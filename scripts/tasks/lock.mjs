import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkout, say } from './checkout.mjs';

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * Two tasks started at once must not install or build over each other: the second waits until the
 * first is done with the part called `name`. The lock of a dead process is taken over.
 */
export async function withLock(name, work) {
  const modules = join(checkout, 'node_modules');
  const lockFile = join(modules, `.runner-${name}.lock`);
  mkdirSync(modules, { recursive: true });
  for (let waits = 0; ; waits += 1) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = existsSync(lockFile) ? Number(readFileSync(lockFile, 'utf8')) : 0;
    // Nothing in it yet: it is being written at this moment, unless it stays so.
    if ((holder > 0 && !isAlive(holder)) || (holder === 0 && waits > 20)) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (waits === 4) say(`${name}: waiting for another task that does the same`);
    await sleep(100);
  }
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}
