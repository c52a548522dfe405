/**
 * Where a version of an instance runs. An instance with `traffic` has two slots, so that two versions
 * can run at once; any other has one place, the instance's own folder.
 */

import {
  liveSlot,
  otherSlot,
  SLOTS,
  type SlotName,
  slotPaths,
  socketIn,
} from '@runner/common/apps/slots';
import type { InstanceState } from '@runner/common/apps/state';
import type { Instance, Traffic } from '@runner/common/deploy-file/instance';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { listenersOn } from '../run/listeners.ts';

/** A slot of an instance, or the instance without slots, and the variables of programs in it. */
export function placeIn({ traffic }: Instance, paths: InstancePaths, slot: SlotName | undefined) {
  const own = slotPaths(paths, slot);
  if (slot === undefined || !traffic) return { slot: undefined, paths, env: {} };
  const port = portOf(traffic, slot) ?? socketIn(own.dir);
  return { slot, paths: own, env: { PORT: String(port), RUNNER_SLOT: slot } };
}

/** The port of a slot; undefined for a socket. */
export function portOf({ ports }: Traffic, slot: SlotName): number | undefined {
  return ports?.[slot === 'a' ? 0 : 1];
}

/** The slot in which a release is: the live one, if it is in both. */
export function slotOf(slots: InstanceState['slots'], live: SlotName | undefined, release: string) {
  const order = live === 'b' ? [...SLOTS].reverse() : SLOTS;
  return order.find((slot) => slots?.[slot]?.release === release);
}

/** The slot that may be used next: the one that is not live, unless there may only be one. */
export function freeSlot(traffic: Traffic, paths: InstancePaths): SlotName {
  const live = liveSlot(paths);
  if (live !== undefined) return traffic.overlap ? otherSlot(live) : live;
  // What ran before without `traffic` may have one of the ports.
  const isFree = (slot: SlotName) => {
    const port = portOf(traffic, slot);
    return port === undefined || listenersOn(port).length === 0;
  };
  return SLOTS.find(isFree) ?? 'a';
}

/** Whether a version starts while the previous one still serves. */
export function startsBeside({ traffic }: Pick<Instance, 'traffic'>): boolean {
  return traffic?.overlap ?? false;
}
