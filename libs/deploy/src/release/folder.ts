/** Release folders: making, linking and removing them. A finished release is never changed. */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, renameSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { isThere, makeFolder, namesIn } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { removeTree } from '@runner/common/files/tree-change';
import { syncFolder } from '@runner/common/files/write';
import { orFail } from '@runner/common/foundation/attempt';
import { Failure, systemCode } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { AppPaths } from '@runner/common/foundation/paths';
import { pruneFiles } from '../instances/kept-file.ts';

/**
 * `20261121T093000Z-0123456789ab`: sorts by time, names the commit, and is not taken: a commit can be deployed twice
 * within a second.
 */
export function freeReleaseName(paths: AppPaths, now: Date, commit: string): string {
  for (let second = 0; ; second += 1) {
    const time = new Date(now.getTime() + second * 1000).toISOString();
    const name = `${time.replace(/[-:]|\.\d+/g, '')}-${commit.slice(0, 12)}`;
    if (!isThere(paths.release(name))) return name;
  }
}

/** The folder of an unfinished release. */
export function temporaryRelease(paths: AppPaths, deployId: string): string {
  return join(paths.releases, `.tmp-${deployId}`);
}

/** Space that must remain beside a release, in bytes. */
const RESERVE = 16_777_216;
/** Inodes that a release may need. */
const INODES = 1_000;

/** Free space, and what a release may need, in bytes: estimated from the size of the packed mirror. */
export function spaceFor(paths: AppPaths) {
  const { bavail, bsize, ffree, files } = statfsSync(paths.dir);
  const packs = join(paths.repo, 'objects', 'pack');
  const packed = namesIn(packs).reduce((sum, name) => sum + lstatSync(join(packs, name)).size, 0);
  return {
    free: bavail * bsize,
    needed: RESERVE + 4 * packed,
    fewFiles: files > 0 && ffree < INODES,
  };
}

/** What a release lacks, in words; empty if it fits. */
export function spaceProblems({ free, needed, fewFiles }: ReturnType<typeof spaceFor>): string[] {
  const mib = (bytes: number) => `${Math.ceil(bytes / 1_048_576)} MiB`;
  const words = `not enough space for a release: ${mib(free)} free, ${mib(needed)} needed`;
  const few = fewFiles ? ['not enough free inodes for a release'] : [];
  return free < needed ? [words, ...few] : few;
}

/** With less than this free, a program that fails may have failed for it: bytes, and inodes. */
const FULL = 1_048_576;
const FULL_INODES = 16;

export function isFull(folder: string): boolean {
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  return bavail * bsize < FULL || (files > 0 && ffree < FULL_INODES);
}

/** Throws `disk_full` if a release would not fit. */
export function checkSpace(paths: AppPaths): void {
  const [problem] = spaceProblems(spaceFor(paths));
  if (problem !== undefined) throw new Failure('disk_full', problem);
}

/** Makes the folder of an unfinished release. */
export function makeTemporary(path: string): void {
  makeFolder(dirname(path));
  orFail(() => mkdirSync(path, { mode: 0o750 }), `make the folder ${path}`);
}

/** Makes the folder of a submodule in a release, which git leaves empty. Throws `deploy_file_invalid`. */
export function submoduleFolder(release: string, path: string): string {
  const names = path.split('/');
  const unsafe = names.some((name) => /^(?:|\.|\.\.|\.git)$/i.test(name));
  if (unsafe) throw new Failure('deploy_file_invalid', `the submodule ${path} has an unsafe path`);
  const make = (parent: Folder, name: Name) => parent.makeFolder(name, 0o750);
  try {
    inFolder(Folder.open(release), (folder) => folder.below(names, make).close());
  } catch (error) {
    if (!['ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) throw error;
    throw notPlain(`the submodule ${path}`);
  }
  return join(release, path);
}

/** A symbolic link in a path would lead changes out of the release. */
export function notPlain(what: string): Failure {
  return new Failure('deploy_file_invalid', `${what} is not a plain folder in this commit`);
}

/**
 * Has a folder's files survive a power cut, with `sync -f` of coreutils: one call, where fsync takes one for
 * each of some thousands of files. Where there is none, the system writes them within half a minute.
 * A slow disk is not waited for after a signal.
 */
export function syncFiles({ env }: Pick<Io, 'env'>, folder: string, signal: AbortSignal) {
  const how = { env: { PATH: env.PATH }, stdio: 'ignore', signal } as const;
  const child = spawn('sync', ['-f', folder], how);
  return new Promise<void>((resolve) => {
    child.once('error', () => resolve()).once('exit', () => resolve());
  });
}

/** Makes the finished folder a release. */
export function finishRelease(temporary: string, release: string): void {
  renameSync(temporary, release);
  syncFolder(dirname(release));
}

/**
 * Removes releases that are neither current nor kept by an instance, apart from those that `stay`.
 * Returns what could not be removed, a sentence each.
 */
export function pruneReleases(paths: AppPaths, app: AppState, stay: ReadonlySet<string>): string[] {
  const problems = unusedReleases(paths, app)
    .filter((name) => !stay.has(name))
    .map((name) => removeTree(join(paths.releases, name)));
  pruneFiles(paths);
  return problems.filter((problem) => problem !== undefined);
}

/** Names of the releases that no instance uses or keeps. */
export function unusedReleases(paths: AppPaths, { instances }: AppState): string[] {
  const used = new Set(
    Object.values(instances).flatMap(({ current, previous }) =>
      [current, ...previous].flatMap((version) => (version ? [version.release] : [])),
    ),
  );
  return namesIn(paths.releases).filter((name) => !name.startsWith('.') && !used.has(name));
}

/** The releases that run, or may, in slots and from before `traffic`. */
export function slotReleases({ instances }: AppState): ReadonlySet<string> {
  const held = Object.values(instances).flatMap(({ slots, before_traffic: before }) =>
    [slots?.a, slots?.b, before].flatMap((each) => each?.release ?? []),
  );
  return new Set(held);
}

/** Folders of unfinished releases. Called under the app's lock: no deploy builds in them. */
export function unfinishedReleases({ releases }: AppPaths): string[] {
  return namesIn(releases)
    .filter((name) => name.startsWith('.tmp-'))
    .map((name) => join(releases, name));
}
