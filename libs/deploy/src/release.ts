/** Releases: a commit exported and built in a folder of its own, then never changed. */
import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, renameSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { AppState } from '@runner/common/apps';
import { Failure, systemCode, systemFailure } from '@runner/common/failure';
import { isThere, makeFolder, namesIn, syncFolder, writeWhole } from '@runner/common/files';
import type { AppPaths } from '@runner/common/paths';
import { gitEnvironment } from './environment.ts';
import type { Source } from './source.ts';

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

/** Refuses to begin where a release would not fit: what is packed grows when it is unpacked. */
export function checkSpace(paths: AppPaths): void {
  const { bavail, bsize, ffree, files } = statfsSync(paths.dir);
  const packs = join(paths.repo, 'objects', 'pack');
  const packed = namesIn(packs).reduce((sum, name) => sum + lstatSync(join(packs, name)).size, 0);
  const needed = RESERVE + 4 * packed;
  if (bavail * bsize < needed) {
    const mib = (bytes: number) => Math.ceil(bytes / 1_048_576);
    throw new Failure(
      'disk_full',
      `too little space for a release: ${mib(bavail * bsize)} MiB free, ${mib(needed)} MiB wanted`,
    );
  }
  if (files > 0 && ffree < INODES)
    throw new Failure('disk_full', 'too few inodes are free for a release');
}

/** Exports a commit into a new folder. Throws `git_failed`, `disk_full`, `interrupted`. */
export async function exportCommit(source: Source, commit: string, into: string): Promise<void> {
  makeFolder(dirname(into));
  try {
    mkdirSync(into, { mode: 0o750 });
  } catch (error) {
    throw systemFailure(error, `make the folder ${into}`);
  }
  takeEverything(source.mirror);
  const env = gitEnvironment(source.io.env);
  const options = { env, signal: source.signal, stdio: ['pipe', 'pipe', 'pipe'] as const };
  const archive = spawn('git', ['-c', 'tar.umask=0022', 'archive', '--format=tar', commit], {
    ...options,
    cwd: source.mirror,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tar = spawn('tar', ['-x', '--no-same-owner', '-f', '-', '-C', into], {
    ...options,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let words = '';
  const listen = (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(0, 4096);
  };
  archive.stderr.on('data', listen);
  tar.stderr.on('data', listen);
  // tar may end first on a full disk; its own status tells.
  tar.stdin.on('error', () => {});
  archive.stdout.pipe(tar.stdin);
  const ended = (child: typeof archive | typeof tar) =>
    new Promise<number | null>((resolve) => {
      child.once('error', () => resolve(null));
      child.once('close', resolve);
    });
  const statuses = await Promise.all([ended(archive), ended(tar)]);
  if (source.signal.aborted) throw new Failure('interrupted', 'interrupted');
  if (statuses.every((status) => status === 0)) return;
  if (/No space left/.test(words)) throw new Failure('disk_full', 'no space left on the disk');
  throw new Failure(
    'git_failed',
    `the commit cannot be exported: ${words.trim().split('\n')[0] ?? ''}`,
  );
}

/**
 * Attributes that a repository has for its release archives would leave files out of a deploy, or
 * alter them: what is deployed is the commit as it is.
 */
function takeEverything(mirror: string): void {
  const folder = join(mirror, 'info');
  makeFolder(folder);
  writeWhole(join(folder, 'attributes'), '* -export-ignore -export-subst\n', 0o640);
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
    refuseLinks(release, dirname(path));
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
function refuseLinks(release: string, folder: string): void {
  let path = release;
  for (const part of folder.split('/').filter((each) => each !== '.')) {
    path = join(path, part);
    try {
      if (lstatSync(path).isDirectory()) continue;
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return;
      throw error;
    }
    throw new Failure(
      'deploy_file_invalid',
      `shared: ${folder} is not a plain folder in this commit`,
    );
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
