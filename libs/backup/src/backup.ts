/** Writes a backup: an archive, compressed and encrypted, as a stream. */
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { requireReplaceable, syncFolder, writeFully } from '@runner/common/files/write';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { encrypted } from './age.ts';
import { type Content, coreOf, sharedOf, unitsOf } from './contents.ts';
import type { Key } from './key.ts';
import { END, headerOf, paddingOf } from './tar.ts';
import { localUsers } from './users.ts';

export interface BackedUp {
  readonly to: string;
  readonly apps: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** The first entry of a backup. */
export const MANIFEST = 'backup.json';

/** Writes a backup to a file, or to standard output for `-`. Throws `usage`, `not_writable`, … */
export async function backUp(
  io: Io,
  paths: Paths,
  to: string,
  key: Key,
  withShared: boolean,
): Promise<BackedUp> {
  if (!statSync(paths.root, { throwIfNoEntry: false })?.isDirectory())
    throw new Failure('file_unreadable', `there is no root ${paths.root}`);
  const core = coreOf(paths);
  const apps = core.flatMap(({ entry }) => /^state\/(.+)\.json$/.exec(entry.path)?.[1] ?? []);
  const counts = { files: 0, bytes: 0 };
  const owner = localUsers().find(({ uid }) => uid === statSync(paths.root).uid)?.name ?? '';
  const about = { version: 1, created: io.now().toISOString(), root: paths.root, owner, apps };
  function* contents(): Generator<Content> {
    yield manifest({ ...about, shared: withShared });
    yield* core;
    yield* unitsOf();
    if (withShared) yield* sharedOf(paths);
  }
  function* archive(): Generator<Uint8Array> {
    for (const { entry, bytes } of contents()) {
      if (entry.type === 'file' && entry.path !== MANIFEST) counts.files += 1;
      yield headerOf(entry);
      yield* bytes();
      yield paddingOf(entry.size);
    }
    yield END;
  }
  const packed = pipeline(Readable.from(archive()), createGzip(), () => {});
  const sealed = await encrypted(packed, key);
  await write(io, to, sealed, (length) => {
    counts.bytes += length;
  });
  return { to, apps, ...counts };
}

function manifest(about: object): Content {
  const bytes = Buffer.from(`${JSON.stringify(about)}\n`);
  const rest = { mode: 0o600, mtime: 0, owner: '', target: '', size: bytes.length };
  return { entry: { path: MANIFEST, type: 'file', ...rest }, bytes: () => [bytes] };
}

async function write(
  io: Io,
  to: string,
  chunks: AsyncIterable<Uint8Array>,
  wrote: (length: number) => void,
): Promise<void> {
  if (to === '-') {
    for await (const chunk of chunks) {
      io.stdout.write(chunk);
      wrote(chunk.length);
    }
    return;
  }
  const path = resolve(io.cwd, to);
  const temporary = `${path}.${io.pid}.tmp`;
  let isThere = false;
  try {
    requireReplaceable(path);
    const { O_CREAT, O_EXCL, O_WRONLY } = constants;
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600);
    isThere = true;
    try {
      for await (const chunk of chunks) {
        writeFully(fd, chunk);
        wrote(chunk.length);
      }
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    isThere = false;
    syncFolder(dirname(path));
  } catch (error) {
    throw systemFailure(error, `write ${path}`);
  } finally {
    if (isThere) unlinkSync(temporary);
  }
}
