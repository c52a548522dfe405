/** Which driver goes with a type of `start`. */
import type { Start } from '@runner/common/deploy-file';
import { commandDriver } from './command.ts';
import type { Driver } from './driver.ts';
import { none } from './none.ts';
import { processDriver } from './process.ts';

const DRIVERS: Readonly<Record<Start['type'], Driver>> = {
  command: commandDriver,
  none,
  process: processDriver,
};

export function driverFor(start: Start): Driver {
  return DRIVERS[start.type];
}
