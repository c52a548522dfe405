/**
 * How the requests of an instance are shared while a release is tried: `next` leads to it, and of
 * `share/00` to `share/19` each is a twentieth of the requests, which leads to `../live` or `../next`.
 * `next` always leads somewhere: without a trial to what is live. So one rename of `live` gives a release
 * all of them, and one rename of `next` takes them all back.
 */
import { join } from 'node:path';
import { isHeld, liveSlot, type SlotName } from '@runner/common/apps/slots';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { isThere } from '@runner/common/files/read';
import type { AppPaths, InstancePaths } from '@runner/common/foundation/paths';
import { linkTo } from './current-link.ts';

const BUCKETS = 20;

export const shareFolder = ({ dir }: Pick<InstancePaths, 'dir'>) => join(dir, 'share');

/** The link to the release that is tried. */
const nextLink = ({ dir }: Pick<InstancePaths, 'dir'>) => join(dir, 'next');

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

/** A canary as it would take place now. */
export interface CanaryPlan {
  /** In %, each for `for_ms`. */
  readonly shares: readonly number[];
  readonly for_ms: number;
  /** The instances whose requests it gets. */
  readonly instances: readonly string[];
  /** Why there is no canary, or what is missing for it; null otherwise. */
  readonly note: string | null;
}

/** undefined if `.deploy.yml` asks for none. A first release gets none, and none begins while requests are held. */
export function canaryPlan(
  paths: AppPaths,
  { canary: shares, watch, instances: all }: DeployFile,
  chosen: readonly Instance[] = all,
): CanaryPlan | undefined {
  if (shares.length === 0 || !watch) return undefined;
  const sockets = chosen.filter(({ traffic }) => traffic?.type === 'socket');
  const live = sockets.filter(({ name }) => liveSlot(paths.instance(name)));
  const open = live.filter(({ name }) => !isHeld(paths.instance(name)));
  const hasLinks = open.every(({ name }) => hasShares(paths.instance(name)));
  const note =
    live.length === 0
      ? 'it is the first release, which gets all requests'
      : open.length === 0
        ? 'requests are held'
        : hasLinks
          ? null
          : 'this deploy makes its links: no request reaches it until the proxy follows them';
  return { shares, for_ms: watch.for, instances: open.map(({ name }) => name), note };
}
