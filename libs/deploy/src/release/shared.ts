/** Shared paths: links from a release to what stays when the release changes. */
import type { Stats } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { makeFolder } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { copyEntry, removeEntry } from '@runner/common/files/tree-change';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Journal } from '../journal/operation.ts';
import { notPlain } from './folder.ts';

type SharedEntry = DeployFile['shared'][number];

/** Contents from a commit that a deploy put into an empty place of `shared/`; `path` is below that. */
export type Seed = NonNullable<Journal['seeds']>[number];

/**
 * Links the shared paths of an instance into a release. A shared path that does not exist yet starts
 * with the contents from the commit, and is passed to `note` at once: the next may fail. A file that
 * exists in neither is refused.
 */
export function linkShared(
  release: string,
  shared: string,
  entries: readonly SharedEntry[],
  note: (seed: Seed) => void = () => undefined,
): void {
  for (const { path, folder } of entries) {
    const target = relative(dirname(join(release, path)), join(shared, path));
    inFolderOf(release, path, plainInCommit, (inside, name) => {
      const isSeeded = inFolderOf(shared, path, plainOutside, (outside) => {
        if (outside.stat(name) !== undefined) return false;
        if (inside.stat(name) !== undefined) move(inside, outside, name);
        else if (folder) outside.makeFolder(name, 0o750);
        else throw missing(join(shared, path));
        return true;
      });
      removeEntry(inside, name);
      inside.makeLink(name, target);
      const print = () => hashOf(inFolderOf(shared, path, plainOutside, printOf));
      if (isSeeded) note({ shared, path, print: print() });
    });
  }
}

/**
 * Calls `use` with the folder of a path, level by level: an app that runs may put a link in the place of
 * one, which would lead elsewhere. Makes the folders above. `refusal` is thrown for a link.
 */
function inFolderOf<T>(
  top: string,
  path: string,
  refusal: (top: string, folder: string) => Failure,
  use: (folder: Folder, name: string) => T,
): T {
  const { names, name } = partsOf(path);
  makeFolder(top);
  try {
    const make = (parent: Folder, made: Name) => parent.makeFolder(made, 0o750);
    return inFolder(Folder.open(top), (opened) =>
      inFolder(opened.below(names, make), (folder) => use(folder, name)),
    );
  } catch (error) {
    if (['ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) throw refusal(top, dirname(path));
    throw systemFailure(error, `use the folder ${join(top, dirname(path))}`);
  }
}

function partsOf(path: string): { names: string[]; name: string } {
  const names = path.split('/').filter((name) => name !== '.' && name !== '');
  return { name: names.pop() as string, names };
}

const plainInCommit = (_: string, folder: string) => notPlain(`shared: ${folder}`);

function plainOutside(shared: string, folder: string): Failure {
  const words = `${join(shared, folder)} is not a plain folder: runner follows no link there`;
  return new Failure('file_unreadable', words);
}

function missing(path: string): Failure {
  const message = `the shared file ${path} does not exist yet: create it, then deploy again`;
  return new Failure('file_unreadable', message);
}

/** Moves a tree, also to another file system, where it appears whole. */
function move(from: Folder, to: Folder, name: string): void {
  try {
    from.move(name, to, name);
    return;
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
  }
  const temporary = '.shared.tmp';
  removeEntry(to, temporary);
  copyEntry({ from, name, to, newName: temporary });
  to.move(temporary, to, name);
}

/**
 * Takes back the contents of a deploy that failed: the first good commit brings its own. What
 * anything has changed since stays.
 */
export function takeBack(seeds: readonly Seed[]): void {
  for (const { shared, path, print } of seeds) {
    try {
      inFolderOf(shared, path, plainOutside, (outside, name) => {
        if (hashOf(printOf(outside, name)) === print) removeEntry(outside, name);
      });
    } catch {
      // The deploy has failed for another reason.
    }
  }
}

/** Names, sizes and times of everything below an entry. */
function printOf(folder: Folder, name: Name): string {
  const stat = folder.stat(name);
  if (stat === undefined) return '';
  const { ino, size, mtimeMs, ctimeMs } = stat;
  const own = `${name.toString('latin1')} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
  if (!stat.isDirectory() || folder.isDeepest) return own;
  return inFolder(folder.inner(name), (inner) =>
    [own, ...inner.names().map((each) => printOf(inner, each))].join(''),
  );
}

/** What a build made of the links to shared paths, in words; undefined if it left them alone. */
export function lostLink(release: string, shared: string, entries: readonly SharedEntry[]) {
  for (const { path, folder } of entries) {
    const { stat, target } = linkAt(release, path);
    if (target === relative(dirname(join(release, path)), join(shared, path))) continue;
    const kind = target !== undefined ? 'link' : stat?.isDirectory() ? 'folder' : 'file';
    const name = folder ? `${path}/` : path;
    const what = stat ? `replaced ${name} by a ${kind} of its own` : `removed ${name}`;
    return `the build ${what}: exclude it from its clean step`;
  }
  return undefined;
}

/** What is at a path of a release, behind no link; and its target, if it is a link. */
function linkAt(release: string, path: string): { stat?: Stats | undefined; target?: string } {
  const { names, name } = partsOf(path);
  const look = (folder: Folder) => {
    const stat = folder.stat(name);
    return { stat, ...(stat?.isSymbolicLink() && { target: String(folder.target(name)) }) };
  };
  const open = (top: Folder) => inFolder(top.below(names), look);
  return orElse(() => inFolder(Folder.open(release), open), {});
}
