/** Restores a backup into an empty root: staged in a separate folder, then moved into place. */
import { accessSync, constants, createReadStream, lstatSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { RanVersion } from '@runner/common/apps/deployed';
import { listApps } from '@runner/common/apps/store';
import { refuseForeignRoot } from '@runner/common/files/foreign-root';
import { type Lock, requireLock } from '@runner/common/files/lock';
import { isThere, makeFolder } from '@runner/common/files/read';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { removeTree } from '@runner/common/files/tree-change';
import { orFail } from '@runner/common/foundation/attempt';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { decrypted } from './age.ts';
import { elsewhere } from './backup.ts';
import { EntryChecks, isSharedLink, roomIn } from './checks.ts';
import type { Key } from './key.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { type Owners, ownersFor } from './owners.ts';
import { isInterrupted, place, requireUnused, STAGE, UNITS, undoInterrupted } from './place.ts';
import { finishFolders, stageEntry } from './stage.ts';
import { readTar, type TarEntry, textOfBytes, unreadable } from './tar.ts';

export interface RestoreResult {
  readonly root: string;
  /** When the backup was made. */
  readonly created: string;
  readonly apps: readonly string[];
  /** What ran when the backup was made, which the first `fetch --deploy` deploys. */
  readonly ran: readonly RanInstance[];
  /** Why the state of an app is restored but cannot be read here, such as one that a newer runner wrote. */
  readonly unreadable: readonly string[];
  readonly files: number;
  /** Shared folders that were links to another disk, which are not restored. */
  readonly links: readonly string[];
  /** `user bob`, `group media`: owners of shared files that could not be set. */
  readonly unset: readonly string[];
  /** Folder with the units, which belong to `/etc`; null if the backup has none. */
  readonly units: string | null;
}

/** An instance in the answer. */
export interface RanInstance extends RanVersion {
  readonly app: string;
  readonly instance: string;
  /** It stays stopped. */
  readonly stopped: boolean;
}

const BLOCK = 262_144;

/** Throws `file_unreadable` for a backup that cannot be read, before a passphrase is asked for. */
export function requireReadable({ cwd }: Io, from: string): void {
  if (from === '-') return;
  const path = resolve(cwd, from);
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const failure = systemFailure(error, `read ${path}`, 'file_unreadable');
    throw elsewhere(failure, `- instead of the file, and add < ${word(path)}`);
  }
}

/**
 * Restores a backup from a file, or standard input for `-`. The complete backup is read and staged before
 * any file of the root appears; `line` is the command as it was typed. Throws `root_in_use`, `backup_unreadable`, `disk_full`.
 */
export async function restore(
  io: Io,
  paths: Paths,
  { file: from, line }: { readonly file: string; readonly line: string },
  key: Key,
): Promise<RestoreResult> {
  const input = from === '-' ? chunksOf(io) : fileChunks(resolve(io.cwd, from));
  const plain = decrypted(input, key);
  // A wrong key changes nothing.
  const first = await plain.next();
  const isNew = !isThere(paths.root);
  const root = orFail(() => {
    // Of an empty folder the owner becomes that of the root; a link, and what is above, stays another user's.
    if (isNew || lstatSync(paths.root).isSymbolicLink()) refuseForeignRoot(io, paths, { line });
    // A root that is refused stays as it is, without our lock.
    if (!isNew)
      inFolder(
        Folder.open(paths.root),
        (found) => isInterrupted(found) || requireUnused(found, paths),
      );
    makeFolder(paths.root);
    return Folder.open(paths.root);
  }, `restore into ${paths.root}`);
  try {
    const lock = lockOf(root, paths, io.pid);
    try {
      undoInterrupted(root);
      requireUnused(root, paths);
      return await restoreInto({ paths, root, isNew }, joined(first, plain));
    } catch (error) {
      undoInterrupted(root);
      if (isNew) removeTree(paths.root);
      throw error;
    } finally {
      lock.release();
    }
  } catch (error) {
    throw systemFailure(error, `restore into ${paths.root}`);
  } finally {
    root.close();
  }
}

/** Takes the lock of the registry; what is made for it belongs to the owner of the root. */
function lockOf(root: Folder, { registryLock }: Paths, pid: number): Lock {
  const { uid, gid } = root.stats;
  const make = (parent: Folder, name: Name) => {
    parent.makeFolder(name, 0o750);
    if (process.geteuid?.() === 0) parent.chownEntry(name, uid, gid);
  };
  return inFolder(root.below([basename(dirname(registryLock))], make), (locks) =>
    requireLock(String(locks.path(basename(registryLock))), 'the registry', 10, { pid }),
  );
}

/** A root that is empty, or was made. */
interface RestoreTarget {
  readonly paths: Paths;
  readonly root: Folder;
  readonly isNew: boolean;
}

async function restoreInto(
  { paths, root, isNew }: RestoreTarget,
  plain: AsyncIterable<Uint8Array>,
): Promise<RestoreResult> {
  root.makeFolder(STAGE, 0o700);
  const stage = root.inner(STAGE);
  try {
    const unpacked = pipeline(Readable.from(plain), createGunzip(), () => {});
    const { manifest, files, folders, links, owners } = await unpack(unpacked, {
      stage,
      paths,
      root,
      isNew,
    });
    finishFolders(stage, folders);
    const hasUnits = place(root, stage, paths);
    return {
      root: paths.root,
      created: manifest.created,
      apps: manifest.apps,
      ...appsIn(paths),
      files,
      links,
      unset: [...owners.unset].sort(),
      units: hasUnits ? join(paths.root, UNITS) : null,
    };
  } finally {
    stage.close();
  }
}

interface Unpacked {
  readonly manifest: Manifest;
  readonly checks: EntryChecks;
  readonly owners: Owners;
  readonly folders: TarEntry[];
  readonly links: string[];
  files: number;
}

/** Writes all entries into the staging folder. Throws `backup_unreadable`, `disk_full`. */
async function unpack(
  bytes: AsyncIterable<Uint8Array>,
  { stage, paths, root, isNew }: RestoreTarget & { readonly stage: Folder },
): Promise<Unpacked> {
  let done: Unpacked | undefined;
  try {
    await readTar(bytes, async (entry, contents) => {
      if (done === undefined) {
        const manifest = await readManifest(entry, contents);
        const checks = new EntryChecks(manifest, roomIn(paths.root));
        const owners = ownersFor(root, manifest.owner, isNew);
        done = { manifest, checks, owners, folders: [], links: [], files: 0 };
        return;
      }
      done.checks.check(entry);
      if (entry.type === 'file') done.files += 1;
      if (entry.type === 'folder') done.folders.push(entry);
      if (isSharedLink(entry))
        done.links.push(`${textOfBytes(entry.path)} -> ${textOfBytes(entry.target)}`);
      else await stageEntry(stage, entry, contents, done.owners);
    });
  } catch (error) {
    if (systemCode(error)?.startsWith('Z_')) throw unreadable('it is damaged');
    throw error;
  }
  if (done === undefined) throw unreadable('it is empty');
  return done;
}

function appsIn(paths: Paths): Pick<RestoreResult, 'ran' | 'unreadable'> {
  const { apps, unreadable } = listApps(paths);
  const ran = apps.flatMap(({ app, restored, stopped }) =>
    Object.entries(restored?.instances ?? {}).map(([instance, ran]) => ({
      app,
      instance,
      ...ran,
      stopped: stopped?.instances.includes(instance) ?? false,
    })),
  );
  return { ran, unreadable: unreadable.map(({ failure }) => failure.message) };
}

async function* joined(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

async function* chunksOf({ stdin }: Io): AsyncGenerator<Uint8Array> {
  for (let chunk = stdin.read(); chunk; chunk = stdin.read()) yield Uint8Array.from(chunk);
}

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: BLOCK });
  } catch (error) {
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
}
