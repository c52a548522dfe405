/** `current`: the symbolic link to the release of an instance, switched atomically. */
import { readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { syncFolder } from '@runner/common/files/write';
import { systemCode } from '@runner/common/foundation/failure';
import type { AppPaths } from '@runner/common/foundation/paths';

/** Name of the release that `current` points to; undefined if there is none. */
export function activeRelease(paths: AppPaths, instance: string): string | undefined {
  try {
    return basename(readlinkSync(paths.instance(instance).current));
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'EINVAL') return undefined;
    throw error;
  }
}

/** Points `current` to a release: a reader finds the old one or the new one. */
export function switchTo(paths: AppPaths, instance: string, release: string): void {
  const { current, dir } = paths.instance(instance);
  makeFolder(dir);
  const temporary = join(dir, '.current.tmp');
  removeIfThere(temporary);
  symlinkSync(relative(dirname(current), paths.release(release)), temporary);
  renameSync(temporary, current);
  syncFolder(dir);
}

/** Removes `current`: nothing is active then. */
export function switchOff(paths: AppPaths, instance: string): void {
  removeIfThere(paths.instance(instance).current);
}
