/** Shared paths: links from a release to what stays when the release changes. */
import { cpSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { isThere, makeFolder, namesIn } from '@runner/common/files/read';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import { refuseLinks, removeTree } from './folder.ts';

type Entry = DeployFile['shared'][number];

/** Contents from a commit that a deploy put into an empty place of `shared/`. */
export interface Seed {
  readonly path: string;
  readonly print: string;
}

/**
 * Links the shared paths of an instance into a release. A shared path that does not exist yet starts
 * with the contents from the commit. A file that exists in neither is refused. Returns what starts
 * with the contents from the commit.
 */
export function linkShared(release: string, shared: string, entries: readonly Entry[]): Seed[] {
  return entries.flatMap(({ path, folder }) => {
    const inside = join(release, path);
    const outside = join(shared, path);
    refuseLinks(release, dirname(path), `shared: ${dirname(path)}`);
    makeFolder(dirname(inside));
    makeFolder(dirname(outside));
    const isNew = !isThere(outside);
    if (isNew && isThere(inside)) move(inside, outside);
    else if (isNew && folder) makeFolder(outside);
    else if (isNew) throw missing(outside);
    rmSync(inside, { recursive: true, force: true });
    symlinkSync(relative(dirname(inside), outside), inside);
    return isNew ? [{ path: outside, print: printOf(outside) }] : [];
  });
}

function missing(path: string): Failure {
  const message = `the shared file ${path} does not exist yet: create it, then deploy again`;
  return new Failure('file_unreadable', message);
}

/** Moves a tree, also to another file system, where it appears whole. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
    return;
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  const temporary = join(dirname(to), '.shared.tmp');
  removeTree(temporary);
  cpSync(from, temporary, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  renameSync(temporary, to);
}

/**
 * Takes back the contents of a deploy that failed: the first good commit brings its own. What
 * anything has changed since stays.
 */
export function takeBack(seeds: readonly Seed[]): void {
  for (const { path, print } of seeds) {
    if (printOf(path) === print) removeTree(path);
  }
}

/** Names, sizes and times of everything below a path. */
function printOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return '';
  const own = `${path} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}\n`;
  if (!stat.isDirectory()) return own;
  return (
    own +
    namesIn(path)
      .map((name) => printOf(join(path, name)))
      .join('')
  );
}

/** What a build made of the links to shared paths, in words; undefined if it left them alone. */
export function lostLink(
  release: string,
  shared: string,
  entries: readonly Entry[],
): string | undefined {
  for (const { path, folder } of entries) {
    const inside = join(release, path);
    const stat = lstatSync(inside, { throwIfNoEntry: false });
    const target = stat?.isSymbolicLink() ? readlinkSync(inside) : undefined;
    if (target === relative(dirname(inside), join(shared, path))) continue;
    const kind = target !== undefined ? 'link' : stat?.isDirectory() ? 'folder' : 'file';
    const name = folder ? `${path}/` : path;
    const what = stat ? `replaced ${name} by a ${kind} of its own` : `removed ${name}`;
    return `the build ${what}: exclude it from its clean step`;
  }
  return undefined;
}
