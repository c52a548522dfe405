/** Shared paths: links from a release to what stays when the release changes. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { isThere, makeFolder, namesIn } from '@runner/common/files/read';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import { refuseLinks, removeTree } from './folder.ts';

type Entry = DeployFile['shared'][number];

/** Contents from a commit that a deploy put into an empty place of `shared/`. */
export interface Seed {
  readonly shared: string;
  /** Below `shared`. */
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
    refuseLinks(release, dirname(path), `shared: ${dirname(path)}`);
    makeFolder(dirname(inside));
    const seeds = inFolderOf(shared, path, (outside) => {
      const isNew = !isThere(outside);
      if (isNew && isThere(inside)) move(inside, outside);
      else if (isNew && folder) makeFolder(outside);
      else if (isNew) throw missing(join(shared, path));
      return isNew ? [{ shared, path, print: printOf(outside) }] : [];
    });
    rmSync(inside, { recursive: true, force: true });
    symlinkSync(relative(dirname(inside), join(shared, path)), inside);
    return seeds;
  });
}

/**
 * Calls `use` with a path whose folder stays the one it is: an app that runs may put a link in its place,
 * which would lead elsewhere. Makes the folders above.
 */
function inFolderOf<T>(shared: string, path: string, use: (path: string) => T): T {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  makeFolder(shared);
  let fd = openSync(shared, O_RDONLY | O_DIRECTORY);
  // Other programs read this path too.
  const at = (name: string) => `/proc/${process.pid}/fd/${fd}/${name}`;
  try {
    for (const part of dirname(path).split('/')) {
      if (part === '.') continue;
      if (!isThere(at(part))) mkdirSync(at(part), 0o750);
      const inner = openSync(at(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(fd);
      fd = inner;
    }
    return use(at(basename(path)));
  } catch (error) {
    const folder = join(shared, dirname(path));
    if (!['ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? ''))
      throw systemFailure(error, `use the folder ${folder}`);
    const words = `${folder} is not a plain folder: runner follows no link there`;
    throw new Failure('file_unreadable', words);
  } finally {
    closeSync(fd);
  }
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
  for (const { shared, path, print } of seeds) {
    try {
      inFolderOf(shared, path, (outside) => {
        // rm follows no link that takes the place of a folder meanwhile.
        if (printOf(outside) === print)
          spawnSync('rm', ['-rf', '--', outside], { stdio: 'ignore' });
      });
    } catch {
      // The deploy has failed for another reason.
    }
  }
}

/** Names, sizes and times of everything below a path. */
function printOf(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return '';
  const own = `${basename(path)} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}\n`;
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
