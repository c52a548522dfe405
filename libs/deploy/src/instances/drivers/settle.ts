/** Waiting until a process that was started has settled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from '@runner/common/files/process';

/** A process that runs for this long counts as started, in milliseconds. */
const SETTLE = 300;
/** The same for one that is still busy: on a loaded server, starting takes longer. */
const SETTLE_BUSY = 5_000;
/** Consecutive idle checks after which it counts as no longer busy. */
const QUIET = 3;
const POLL = 20;

/** Waits until the app has settled, or has ended. */
export async function settled(pid: number | undefined, isOver: () => boolean): Promise<void> {
  const begun = performance.now();
  let quiet = 0;
  const hasSettled = () => {
    const took = performance.now() - begun;
    quiet = pid !== undefined && isBusy(pid) ? 0 : quiet + 1;
    return took >= SETTLE && (quiet >= QUIET || took >= SETTLE_BUSY);
  };
  while (!isOver() && !hasSettled()) await sleep(POLL);
}
