/** `start.type: none`: nothing is started; the switch of `current` is the deploy (static sites). */
import { type Driver, unobserved } from './driver.ts';

export const none: Driver = {
  start: async () => unobserved,
  stop: async () => {},
  status: () => 'unknown',
};
