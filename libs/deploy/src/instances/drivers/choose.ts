/** The driver for each type of `start`. */
import type { Start } from '@runner/common/deploy-file/start';
import { commandDriver } from './command.ts';
import { composeDriver } from './compose.ts';
import { type Driver, unobserved } from './driver.ts';
import { pm2Driver } from './pm2.ts';
import { processDriver } from './process.ts';
import { systemdDriver } from './systemd.ts';

/** Nothing is started; the switch of `current` is the deploy (static sites). */
const none: Driver = {
  start: async () => unobserved,
  stop: async () => {},
  status: () => 'unknown',
};

const DRIVERS: Readonly<Record<Start['type'], Driver>> = {
  command: commandDriver,
  compose: composeDriver,
  none,
  pm2: pm2Driver,
  process: processDriver,
  systemd: systemdDriver,
};

export function driverFor(start: Start): Driver {
  return DRIVERS[start.type];
}

/**
 * Whether starting `after` ends what `before` started. If not, `before` has to be stopped first, or
 * both would run.
 */
export function takesThePlaceOf(after: Start, before: Start): boolean {
  if (after.type !== 'systemd' || before.type !== 'systemd') return after.type === before.type;
  return after.unit === before.unit && after.user === before.user;
}
