/**
 * How the requests of an instance are shared while a release is tried: `next` leads to it, and of
 * `share/00` to `share/19` each is a twentieth of the requests, which leads to `../live` or `../next`.
 * `next` always leads somewhere: without a trial to what is live. So one rename of `live` gives a release
 * all of them, and one rename of `next` takes them all back.
 */
import { join } from 'node:path';
import { isHeld, liveSlot, type SlotName } from '@runner/common/apps/slots';
import { isThere } from '@runner/common/files/read';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { linkTo } from './current-link.ts';

const BUCKETS = 20;

export const shareFolder = ({ dir }: Pick<InstancePaths, 'dir'>) => join(dir, 'share');

/** The link to the release that is tried. */
export function nextLink({ dir }: Pick<InstancePaths, 'dir'>): string {
  return join(dir, 'next');
}

/** The names of the shares, for the configuration of a proxy. */
export const SHARES = Array.from({ length: BUCKETS }, (_, at) => String(at).padStart(2, '0'));

/** Whether an instance has such links: they stay, since a proxy may follow them. */
export function hasShares(own: InstancePaths): boolean {
  return isThere(shareFolder(own));
}

/** Gives a slot a share of the requests, in percent, the same buckets first each time. */
export function shareOut(own: InstancePaths, slot: SlotName | 'hold', percent: number): void {
  linkTo(nextLink(own), slot);
  const count = Math.round((percent / 100) * BUCKETS);
  for (const [at, name] of SHARES.entries())
    linkTo(join(shareFolder(own), name), at < count ? '../next' : '../live');
}

/** All requests go to what is live, or are held. `next` first: from then on no bucket leads elsewhere. */
export function shareNothing(own: InstancePaths): void {
  const live = isHeld(own) ? 'hold' : liveSlot(own);
  if (live) shareOut(own, live, 0);
}
