/** `current`: the symbolic link to the release of an instance, switched atomically. */
import { readlinkSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { openBelowInstance } from '@runner/common/apps/instance-folder';
import {
  heldSlotLink,
  holdFolder,
  isHeld,
  liveLink,
  liveSlot,
  type SlotName,
} from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import { isThere, makeFolder, removeIfThere } from '@runner/common/files/read';
import { inFolder } from '@runner/common/files/tree';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { InstancePaths, Paths } from '@runner/common/foundation/paths';

/** Name of the release that is active in an instance; undefined if there is none. */
export function activeRelease(paths: Paths, app: string, instance: string): string | undefined {
  const own = paths.app(app).instance(instance);
  const live = liveSlot(own);
  // The app may write into its slot's folder: what is in it is not followed.
  if (live) return findApp(paths, app)?.instances[instance]?.slots?.[live]?.release;
  const target = targetOf(own.current);
  return target && basename(target);
}

/** Name of the release that was put last into an instance: it may not get the requests yet. */
export function placedRelease(paths: Paths, app: string, instance: string): string | undefined {
  const target = targetOf(paths.app(app).instance(instance).current);
  const isLive = target === undefined || target === 'live/current';
  return isLive ? activeRelease(paths, app, instance) : basename(target);
}

/** What a link names; undefined if there is no link. Throws `file_unreadable`. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EINVAL') return undefined;
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
}

/** Points a place's `current` to a release: a reader finds the old one or the new one. */
export function switchTo(paths: InstancePaths, release: string): void {
  linkTo(paths.current, relative(dirname(paths.current), release));
}

/** Points a link to a target, in one rename. */
export function linkTo(path: string, target: string): void {
  if (targetOf(path) === target) return;
  const dir = dirname(path);
  makeFolder(dir);
  const temporary = `.${basename(path)}.tmp`;
  inFolder(openBelowInstance(dir), (folder) => {
    folder.unlink(temporary);
    folder.makeLink(temporary, target);
    folder.move(temporary, folder, basename(path));
    folder.sync();
  });
}

/** Sends the requests of an instance to a slot; while they are held, as soon as they no longer are. */
export function leadTo(own: InstancePaths, slot: SlotName): void {
  // First: a hold that ends meanwhile finds it.
  if (isThere(holdFolder(own))) linkTo(heldSlotLink(own), `../${slot}`);
  if (!isHeld(own)) linkTo(liveLink(own), slot);
}

/** Removes the links of an instance: nothing is active then. */
export function switchOff(paths: InstancePaths): void {
  removeIfThere(liveLink(paths));
  removeIfThere(paths.current);
}
