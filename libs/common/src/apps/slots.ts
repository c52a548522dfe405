/**
 * The two slots of an instance with `traffic`, and the link `live`, which names the one that gets the
 * requests: a proxy resolves the link at each request, so one rename moves them all.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import { systemCode, systemFailure } from '../foundation/failure.ts';
import type { InstancePaths } from '../foundation/paths.ts';

export const SLOTS = ['a', 'b'] as const;
export type SlotName = (typeof SLOTS)[number];

/** What was started in a slot. */
export interface SlotState {
  release: string;
  version: string;
  commit: string;
  deploy_id: string;
  port: number | null;
  started_at: string;
  /** Boot in which it was started: nothing of it runs in the next one. */
  boot_id: string;
}

/** The slot that finishes its last requests, and until when it may. */
export interface Draining {
  slot: SlotName;
  since: string;
  until: string;
}

/** The link that the proxy follows. */
export function liveLink({ dir }: Pick<InstancePaths, 'dir'>): string {
  return join(dir, 'live');
}

/** What `live` names while requests are held: a folder with the holder's socket. */
const HOLD = 'hold';

export function holdFolder({ dir }: Pick<InstancePaths, 'dir'>): string {
  return join(dir, HOLD);
}

/** The link in it to the slot that gets the requests afterwards. */
export function heldSlotLink(paths: Pick<InstancePaths, 'dir'>): string {
  return join(holdFolder(paths), 'slot');
}

/** Whether the requests of an instance are held. */
export function isHeld(paths: Pick<InstancePaths, 'dir'>): boolean {
  return targetOf(liveLink(paths)) === HOLD;
}

/** The slot that gets the requests once they are no longer held; undefined if they never were. */
export function slotAfterHold(paths: Pick<InstancePaths, 'dir'>): SlotName | undefined {
  const target = targetOf(heldSlotLink(paths));
  return SLOTS.find((slot) => target === `../${slot}`);
}

/** What `live` names while the version in a slot sleeps: a folder with a link to the waker's socket. */
export function sleepingIn(slot: SlotName): string {
  return `${slot}.asleep`;
}

/** Since when an instance sleeps; undefined if it does not. */
export function asleepSince(paths: Pick<InstancePaths, 'dir'>): Date | undefined {
  return orElse(() => {
    const link = liveLink(paths);
    const target = readlinkSync(link);
    return SLOTS.some((slot) => sleepingIn(slot) === target) ? lstatSync(link).mtime : undefined;
  }, undefined);
}

/** The slot that `live` names, also while it sleeps, or would if no requests were held; undefined without one. */
export function liveSlot(paths: Pick<InstancePaths, 'dir'>): SlotName | undefined {
  const target = targetOf(liveLink(paths));
  if (target === HOLD) return slotAfterHold(paths);
  return SLOTS.find((slot) => slot === target || sleepingIn(slot) === target);
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw systemFailure(error, `read ${link}`, 'file_unreadable');
  }
}

export function otherSlot(slot: SlotName): SlotName {
  return slot === 'a' ? 'b' : 'a';
}

/** Where a slot's release and socket are. The records of its process stay outside: an app may write there. */
export function slotPaths(paths: InstancePaths, slot: SlotName | undefined): InstancePaths {
  if (slot === undefined) return paths;
  const dir = join(paths.dir, slot);
  return { ...paths, dir, current: join(dir, 'current'), run: join(paths.run, slot) };
}

/** The folder `run` of what is active in an instance. */
export function liveRun(paths: InstancePaths): string {
  return slotPaths(paths, liveSlot(paths)).run;
}

/** The socket of a slot, or of what is live. */
export function socketIn(dir: string): string {
  return join(dir, 'app.sock');
}
