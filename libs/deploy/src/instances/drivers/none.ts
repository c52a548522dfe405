/** `start.type: none`: nothing is started; the switch of `current` is the deploy (static sites). */
import type { Driver } from './driver.ts';

export const none: Driver = {
  start: async () => ({ death: () => undefined }),
  stop: async () => {},
  status: () => 'unknown',
};
