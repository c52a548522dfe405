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
import { orFail } from '@runner/common/foundation/attempt';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { word } from '@runner/common/text/shell';
import { encrypted } from './age.ts';
import { coreOf, type EntryContent, type LeaveOut, unitsOf } from './contents.ts';
import type { Key } from './key.ts';
import { manifestEntry } from './manifest.ts';
import { sharedOf, surveyShared } from './shared.ts';
import { END, headerOf, paddingOf, textOfBytes } from './tar.ts';
import { localUsers } from './users.ts';

export interface BackedUp {
  readonly to: string;
  readonly apps: readonly string[];
  readonly files: number;
  readonly bytes: number;
  /** The first of what a backup cannot save. */
  readonly not_saved: readonly { readonly path: string; readonly why: string }[];
  readonly not_saved_count: number;
}

/** What is wanted of a backup. */
export interface BackupRequest extends Server {
  /** A file, or `-` for standard output. */
  readonly to: string;
  readonly key: Key;
  readonly withShared: boolean;
  /** Gets a sentence for what is not saved. */
  note(text: string): void;
}

/** Writes a backup. Throws `usage`, `not_writable`, … */
export async function backUp({ io, paths, to, key, ...rest }: BackupRequest): Promise<BackedUp> {
  const { withShared, note } = rest;
  const stat = orFail(
    () => statSync(paths.root, { throwIfNoEntry: false }),
    `read ${paths.root}`,
    'file_unreadable',
  );
  if (!stat?.isDirectory()) throw new Failure('file_unreadable', `there is no root ${paths.root}`);
  const left: { path: string; why: string }[] = [];
  const leaveOut: LeaveOut = (path, why) => {
    left.push({ path, why });
    if (left.length <= NAMED) note(`not saved: ${harmlessLine(path)}: ${why}`);
  };
  const own = [...coreOf(paths, leaveOut), ...unitsOf(leaveOut)];
  const apps = own.flatMap(({ entry }) => /^state\/(.+)\.json$/.exec(entry.path)?.[1] ?? []);
  const survey = withShared
    ? surveyShared(paths, (path, why) => leaveOut(textOfBytes(path), why))
    : new Map<string, number>();
  if (left.length > NAMED) note(`not saved: ${left.length - NAMED} more`);
  const counts = { files: 0, bytes: 0 };
  const owner = localUsers().find(({ uid }) => uid === stat.uid)?.name ?? '';
  const sizes = [...own.map(({ entry }) => entry.size), ...survey.values()];
  const about = { created: io.now().toISOString(), root: paths.root, owner, apps };
  const limits = { bytes: sizes.reduce((sum, size) => sum + size, 0), entries: sizes.length };
  function* contents(): Generator<EntryContent> {
    yield* own;
    if (withShared) yield* sharedOf(paths, survey);
  }
  function* archive(): Generator<Uint8Array> {
    const manifest = manifestEntry({ ...about, shared: withShared, ...limits });
    yield* [headerOf(manifest.entry), manifest.bytes, paddingOf(manifest.entry.size)];
    for (const { entry, bytes } of contents()) {
      if (entry.type === 'file') counts.files += 1;
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
  return { to, apps, ...counts, not_saved: left.slice(0, LISTED), not_saved_count: left.length };
}

/** How many entries that are not saved are named, and listed in JSON. */
const [NAMED, LISTED] = [20, 1_000];

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
      // A reader of other output may leave, but half a backup restores nothing.
      const why = io.stdout.failure?.message ?? 'its reader has closed the pipe';
      if (io.stdout.closed) throw new Failure('output_failed', `the backup is incomplete: ${why}`);
    }
    return;
  }
  const path = resolve(io.cwd, to);
  await writeStream(path, io.pid, chunks, wrote).catch((error: unknown) => {
    throw elsewhere(error, `--to -, and add > ${word(path)}`);
  });
}

/** With the way round for root, who acts as the owner of the root. */
export function elsewhere(error: unknown, instead: string): unknown {
  if (!(error instanceof Failure) || systemCode(error.cause) !== 'EACCES') return error;
  const message = `${error.message}; as user ${process.geteuid?.()}: use ${instead}`;
  return new Failure(error.code, message);
}

/** Writes a file of the owner alone, as a whole or not at all; on return it survives a power cut. */
export async function writeStream(
  path: string,
  pid: number,
  chunks: AsyncIterable<Uint8Array>,
  wrote: (length: number) => void,
): Promise<void> {
  const temporary = `${path}.${pid}.tmp`;
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
