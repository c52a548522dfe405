/**
 * The shared folders of all instances, whose apps may run. A survey comes first: the manifest announces
 * how much there is, and no more is saved, whatever the apps write meanwhile.
 */
import { fstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { folderNamesIn } from '@runner/common/files/read';
import { DEPTH_MAX, Folder, type Name } from '@runner/common/files/tree';
import { closing } from '@runner/common/foundation/attempt';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import { previewedApp } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { isKnown, UNKNOWN } from './checks.ts';
import { type EntryContent, type LeaveOut, rangeOf } from './contents.ts';
import { byteString, type TarEntry, textOfBytes } from './tar.ts';
import { type Group, localGroups, localUsers, type User } from './users.ts';

/** Bytes of each file below `apps/`, by its path; 0 of what is not a file. */
export type Survey = ReadonlyMap<string, number>;

/** An app exchanged an entry for another kind while it was read. */
const CHANGED = ['EINVAL', 'ELOOP', 'ENOTDIR', 'ENXIO'];
/** Folders in each other that are saved: restoring enters those above them, too. */
const DEEPEST = DEPTH_MAX - 10;

/** One walk through all shared folders. */
interface Walk {
  readonly root: string;
  readonly users: readonly User[];
  readonly groups: readonly Group[];
  /** Absent during the survey, which opens no file. */
  readonly survey?: Survey;
  readonly leaveOut: LeaveOut;
}

/** What the shared folders hold; `leaveOut` gets what a backup cannot save. */
export function surveyShared(paths: Paths, leaveOut: LeaveOut): Survey {
  const walk = { root: paths.root, users: [], groups: [], leaveOut };
  const sizes = new Map<string, number>();
  for (const { entry } of walked(paths, walk)) sizes.set(entry.path, entry.size);
  return sizes;
}

/** What was surveyed and is still there, with up to as many bytes. */
export function sharedOf(paths: Paths, survey: Survey): Generator<EntryContent> {
  const [users, groups] = [localUsers(), localGroups()];
  return walked(paths, { root: paths.root, users, groups, survey, leaveOut: () => {} });
}

function* walked(paths: Paths, walk: Walk): Generator<EntryContent> {
  for (const app of folderNamesIn(join(paths.root, 'apps'))) {
    // The code host and the app's own settings make it again.
    if (previewedApp(app) !== undefined) continue;
    const { instances, instance } = paths.app(app);
    for (const name of folderNamesIn(instances)) {
      const path = byteString(`apps/${app}/instances/${name}/shared`);
      const above = Folder.open(instance(name).dir);
      try {
        const isLink = above.stat('shared')?.isSymbolicLink();
        if (!isKnown(path)) walk.leaveOut(path, UNKNOWN);
        else if (isLink) walk.leaveOut(path, 'it is a link');
        else yield* entryAt(walk, above, 'shared', path);
      } finally {
        above.close();
      }
    }
  }
}

function* entryAt(walk: Walk, folder: Folder, name: Name, path: string): Generator<EntryContent> {
  if (walk.survey?.has(path) === false) return;
  try {
    const stat = folder.stat(name);
    if (stat?.isSymbolicLink()) yield linkAt(walk, folder, name, { path, stat });
    else if (stat?.isDirectory()) yield* folderAt(walk, folder, name, path);
    else if (stat?.isFile()) yield* fileAt(walk, folder, name, { path, stat });
    else if (stat) walk.leaveOut(path, `it is ${kindOf(stat)}`);
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (error instanceof Failure || code === '') throw error;
    if (CHANGED.includes(code)) walk.leaveOut(path, 'it changed while it was read');
    else if (code !== 'ENOENT') throw unreadableFile(walk, path, error);
  }
}

function unreadableFile({ root }: Walk, path: string, error: unknown): unknown {
  const shown = textOfBytes(path);
  if (systemCode(error) !== 'EACCES')
    return systemFailure(error, `read ${shown}`, 'file_unreadable');
  // Not as root, who would write no backup of another user's root.
  const shared = word(join(root, textOfBytes(path.split('/').slice(0, 5).join('/'))));
  const fix = `sudo setfacl -R -m u:${process.geteuid?.()}:rX ${shared}`;
  const message = `cannot read ${shown}: allow it with ${fix}, or leave out --with-shared`;
  return new Failure('file_unreadable', message);
}

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return 'a named pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

interface FoundEntry {
  readonly path: string;
  readonly stat: Stats;
}

function entryOf(
  walk: Walk,
  { path, stat }: FoundEntry,
  rest: Pick<TarEntry, 'type' | 'size'>,
): TarEntry {
  const owner = walk.users.find(({ uid }) => uid === stat.uid)?.name ?? String(stat.uid);
  const group = walk.groups.find(({ gid }) => gid === stat.gid)?.name ?? String(stat.gid);
  const mtime = stat.mtimeMs / 1000;
  return { path, mode: stat.mode & 0o7777, mtime, owner, group, target: '', ...rest };
}

function linkAt(walk: Walk, folder: Folder, name: Name, found: FoundEntry): EntryContent {
  const target = folder.target(name).toString('latin1');
  return { entry: { ...entryOf(walk, found, { type: 'link', size: 0 }), target }, bytes: () => [] };
}

function* folderAt(walk: Walk, above: Folder, name: Name, path: string): Generator<EntryContent> {
  if (path.split('/').length > DEEPEST) {
    walk.leaveOut(path, `it is in more than ${DEEPEST} folders`);
    return;
  }
  const folder = above.inner(name);
  try {
    const found = { path, stat: folder.stats };
    yield { entry: entryOf(walk, found, { type: 'folder', size: 0 }), bytes: () => [] };
    for (const each of folder.names())
      yield* entryAt(walk, folder, each, `${path}/${each.toString('latin1')}`);
  } finally {
    folder.close();
  }
}

function* fileAt(
  walk: Walk,
  folder: Folder,
  name: Name,
  found: FoundEntry,
): Generator<EntryContent> {
  const { path } = found;
  if (walk.survey === undefined) {
    const entry = entryOf(walk, found, { type: 'file', size: found.stat.size });
    yield { entry, bytes: () => [] };
    return;
  }
  const fd = folder.openFile(name);
  using _file = closing(fd);
  const stat = fstatSync(fd);
  const size = Math.min(stat.size, walk.survey.get(path) ?? 0);
  const entry = entryOf(walk, { path, stat }, { type: 'file', size });
  if (stat.isFile()) yield { entry, bytes: () => rangeOf(fd, size) };
}
