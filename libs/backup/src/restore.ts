/** Restores a backup into an empty root: staged in a separate folder, then moved into place. */
import { accessSync, closeSync, constants, openSync, readSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Ran } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { requireLock } from '@runner/common/files/lock';
import { isThere, makeFolder } from '@runner/common/files/read';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import { decrypted } from './age.ts';
import { MANIFEST } from './backup.ts';
import type { Key } from './key.ts';
import { isInterrupted, place, requireUnused, STAGE, undoInterrupted } from './place.ts';
import { finishFolders, type Owners, ownersFor, stageEntry } from './stage.ts';
import { type Entry, readTar, unreadable } from './tar.ts';

export interface Restored {
  readonly root: string;
  /** When the backup was made. */
  readonly created: string;
  readonly apps: readonly string[];
  /** What ran when the backup was made, which the first `fetch --deploy` deploys. */
  readonly ran: readonly RanInstance[];
  readonly files: number;
  /** `user bob`, `group media`: owners of shared files that could not be set. */
  readonly unset: readonly string[];
  /** Folder with the units, which belong to `/etc`; null if the backup has none. */
  readonly units: string | null;
}

/** An instance in the answer. */
export interface RanInstance extends Ran {
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
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
}

/**
 * Restores a backup from a file, or standard input for `-`. The complete backup is read and staged before
 * any file of the root appears. Throws `root_in_use`, `backup_unreadable`.
 */
export async function restore(io: Io, paths: Paths, from: string, key: Key): Promise<Restored> {
  const input = from === '-' ? chunksOf(io) : fileChunks(resolve(io.cwd, from));
  const plain = decrypted(input, key);
  // A wrong key changes nothing.
  const first = await plain.next();
  const isNew = !isThere(paths.root);
  // A root that is refused stays as it is, without our lock.
  if (!isInterrupted(paths)) requireUnused(paths);
  makeFolder(paths.root);
  const lock = requireLock(paths.registryLock, 'the registry', 10, { pid: io.pid });
  try {
    undoInterrupted(paths);
    requireUnused(paths);
    return await restoreInto(paths, join(paths.root, STAGE), joined(first, plain), isNew);
  } catch (error) {
    undoInterrupted(paths);
    if (isNew) rmSync(paths.root, { recursive: true, force: true });
    throw systemFailure(error, `restore into ${paths.root}`);
  } finally {
    lock.release();
  }
}

async function restoreInto(
  paths: Paths,
  stage: string,
  plain: AsyncIterable<Uint8Array>,
  isNew: boolean,
): Promise<Restored> {
  makeFolder(stage, 0o700);
  const unpacked = pipeline(Readable.from(plain), createGunzip(), () => {});
  let about: Readonly<Record<string, unknown>> | undefined;
  let files = 0;
  let owners: Owners | undefined;
  const folders: Entry[] = [];
  try {
    await readTar(unpacked, async (entry, bytes) => {
      if (about === undefined) {
        const parts: Buffer[] = [];
        for await (const part of bytes) parts.push(part);
        about = entry.path === MANIFEST ? jsonObject(Buffer.concat(parts).toString()) : undefined;
        if (about?.version !== 1)
          throw unreadable('this version of runner does not know its format');
        owners = ownersFor(paths.root, isNew ? String(about.owner) : '');
        return;
      }
      if (entry.type === 'file') files += 1;
      if (entry.type === 'folder') folders.push(entry);
      if (owners) await stageEntry(stage, entry, bytes, owners);
    });
  } catch (error) {
    if (systemCode(error)?.startsWith('Z_')) throw unreadable('it is damaged');
    throw error;
  }
  finishFolders(stage, folders);
  const units = place(paths);
  // Made by our own lock.
  for (const path of [dirname(paths.registryLock), paths.registryLock])
    owners?.own(path, { owner: '', group: '' });
  const apps = Array.isArray(about?.apps) ? about.apps.map(String) : [];
  return {
    root: paths.root,
    created: String(about?.created),
    apps,
    ran: ranIn(paths),
    files,
    unset: [...(owners?.unset ?? [])].sort(),
    units,
  };
}

function ranIn(paths: Paths): RanInstance[] {
  return listApps(paths).apps.flatMap(({ app, restored, stopped }) =>
    Object.entries(restored?.instances ?? {}).map(([instance, ran]) => ({
      ...{ app, instance, ...ran },
      stopped: stopped?.instances.includes(instance) ?? false,
    })),
  );
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
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    for (;;) {
      const buffer = new Uint8Array(BLOCK);
      const count = readSync(fd, buffer);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  } catch (error) {
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
