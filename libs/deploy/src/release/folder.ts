/** Releases: a commit exported and built in a folder of its own, then never changed. */
import { lstatSync, mkdirSync, renameSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { isThere, makeFolder, namesIn } from '@runner/common/files/read';
import { syncFolder } from '@runner/common/files/write';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { AppPaths } from '@runner/common/foundation/paths';

/** `20261121T093000Z-0123456789ab`: sorts by time, names the commit. */
export function releaseName(now: Date, commit: string): string {
  const time = now.toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '');
  return `${time}-${commit.slice(0, 12)}`;
}

/** A name that no earlier release has: two deploys of one commit can fall into one second. */
export function freeReleaseName(paths: AppPaths, now: Date, commit: string): string {
  for (let second = 0; ; second += 1) {
    const name = releaseName(new Date(now.getTime() + second * 1000), commit);
    if (!isThere(paths.release(name))) return name;
  }
}

/** Where an unfinished release is made. */
export function temporaryRelease(paths: AppPaths, deployId: string): string {
  return join(paths.releases, `.tmp-${deployId}`);
}

/** Space left free beside a release and its build, in bytes. */
const RESERVE = 16_777_216;
/** Files that a release may need at least. */
const INODES = 1_000;

/** What a release may use and may need, in bytes and files. */
export interface Space {
  readonly free: number;
  readonly needed: number;
  readonly fewFiles: boolean;
}

/** What is packed grows when it is unpacked. */
export function spaceFor(paths: AppPaths): Space {
  const { bavail, bsize, ffree, files } = statfsSync(paths.dir);
  const packs = join(paths.repo, 'objects', 'pack');
  const packed = namesIn(packs).reduce((sum, name) => sum + lstatSync(join(packs, name)).size, 0);
  return {
    free: bavail * bsize,
    needed: RESERVE + 4 * packed,
    fewFiles: files > 0 && ffree < INODES,
  };
}

/** In words what is too little for a release; empty when a release fits. */
export function tooLittle({ free, needed, fewFiles }: Space): string[] {
  const mib = (bytes: number) => Math.ceil(bytes / 1_048_576);
  return [
    ...(free < needed
      ? [`too little space for a release: ${mib(free)} MiB free, ${mib(needed)} MiB wanted`]
      : []),
    ...(fewFiles ? ['too few inodes are free for a release'] : []),
  ];
}

/** Refuses to begin where a release would not fit. */
export function checkSpace(paths: AppPaths): void {
  const [problem] = tooLittle(spaceFor(paths));
  if (problem !== undefined) throw new Failure('disk_full', problem);
}

/** Makes the folder of an unfinished release. */
export function makeTemporary(path: string): void {
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o750 });
  } catch (error) {
    throw systemFailure(error, `make the folder ${path}`);
  }
}

/** The place of a submodule in a release, where git leaves an empty folder. */
export function submoduleFolder(release: string, path: string): string {
  const unsafe = path.split('/').some((part) => /^(?:|\.|\.\.|\.git)$/i.test(part));
  if (unsafe) throw new Failure('deploy_file_invalid', `the submodule ${path} has no safe path`);
  refuseLinks(release, path, `the submodule ${path}`);
  const folder = join(release, path);
  makeFolder(folder);
  return folder;
}

/** Makes the finished folder a release: from now on it is never changed. */
export function finishRelease(temporary: string, release: string): void {
  renameSync(temporary, release);
  syncFolder(dirname(release));
}

/**
 * Links the shared paths of an instance into a release. What the commit has there becomes the
 * first content of a shared path that does not exist yet. A file that is nowhere is refused.
 */
export function linkShared(
  release: string,
  shared: string,
  entries: readonly { path: string; folder: boolean }[],
): void {
  for (const { path, folder } of entries) {
    const inside = join(release, path);
    const outside = join(shared, path);
    refuseLinks(release, dirname(path), `shared: ${dirname(path)}`);
    makeFolder(dirname(inside));
    makeFolder(dirname(outside));
    if (!isThere(outside) && isThere(inside)) renameSync(inside, outside);
    else if (!isThere(outside) && folder) makeFolder(outside);
    if (!isThere(outside)) {
      throw new Failure(
        'file_unreadable',
        `the shared file ${outside} does not exist yet: create it, then deploy again`,
      );
    }
    rmSync(inside, { recursive: true, force: true });
    symlinkSync(relative(dirname(inside), outside), inside);
  }
}

/** A link of the commit in the path would lead what is removed and made out of the release. */
function refuseLinks(release: string, folder: string, what: string): void {
  let path = release;
  for (const part of folder.split('/').filter((each) => each !== '.')) {
    path = join(path, part);
    try {
      if (lstatSync(path).isDirectory()) continue;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      throw error;
    }
    throw new Failure('deploy_file_invalid', `${what} is not a plain folder in this commit`);
  }
}

/** Removes a folder tree, also one with folders that may not be written. */
export function removeTree(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 2 });
}

/**
 * Removes releases that nothing refers to: neither an instance's current or kept versions, nor the
 * newest failed one, which stays for a look at it.
 */
export function pruneReleases(paths: AppPaths, app: AppState): void {
  const used = new Set(
    Object.values(app.instances).flatMap(({ current, previous }) =>
      [current, ...previous].flatMap((version) => (version ? [version.release] : [])),
    ),
  );
  const all = namesIn(paths.releases).filter((name) => !name.startsWith('.'));
  const unused = all.filter((name) => !used.has(name)).sort();
  const newestGood = [...used].sort().at(-1) ?? '';
  const newest = unused.at(-1);
  for (const name of unused) {
    const inspect = name === newest && name > newestGood;
    if (!inspect) removeTree(join(paths.releases, name));
  }
}
