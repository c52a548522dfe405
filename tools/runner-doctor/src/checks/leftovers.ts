/** Folders that a deploy could not remove. */

import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { mountedBelow } from '@runner/common/files/mounts';
import { namesIn } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { unusedReleases } from '@runner/deploy/release/folder';
import { type Findings, warning } from '../foundation/finding.ts';

/** Folders of abandoned builds, and releases that are no longer kept. */
export function leftovers({ io, paths }: Server, app: AppState): Findings {
  if (app.deploying) return [];
  const own = paths.app(app.app);
  const abandoned = namesIn(own.releases).filter((name) => name.startsWith('.tmp-'));
  const { uid: owner } = statSync(paths.root);
  // Not reported if the next deploy can remove it: a failed release is kept for inspection.
  const stuck = unusedReleases(own, app).filter((name) => {
    const path = join(own.releases, name);
    return needsRoot(path, owner) || mountedBelow(path) !== undefined;
  });
  const found = (names: readonly string[], words: string) =>
    names.map((name) => {
      const path = join(own.releases, name);
      const mount = mountedBelow(path);
      const sudo = io.uid !== 0 && (mount || needsRoot(path, owner)) ? 'sudo ' : '';
      const fix = mount ? `umount ${word(mount)}` : `rm -rf ${word(path)}`;
      return warning(`${path} ${words}`, `${sudo}${fix}`);
    });
  return [
    ...found(abandoned, 'was left by a killed deploy'),
    ...found(stuck, 'is no longer needed but could not be removed'),
  ];
}

/** Whether a user cannot remove a tree: it contains folders of another user (left by a container), or read-only ones. */
function needsRoot(path: string, uid: number): boolean {
  const hasForeign = (parent: Folder) => needsRootIn(parent, basename(path), uid);
  return orElse(() => inFolder(Folder.open(dirname(path)), hasForeign), false);
}

function needsRootIn(folder: Folder, name: Name, uid: number): boolean {
  const stat = folder.stat(name);
  if (!stat?.isDirectory()) return false;
  const isOurs = stat.uid === uid && (stat.mode & 0o300) === 0o300;
  if (!isOurs || folder.isDeepest) return !isOurs;
  return inFolder(folder.inner(name), (inner) =>
    inner.names().some((each) => needsRootIn(inner, each, uid)),
  );
}
