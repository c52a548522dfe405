/** Archives that anyone with the public key can make. */

import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { encrypted } from '@runner/backup/age';
import { END, headerOf, paddingOf, type TarEntry } from '@runner/backup/tar';
import { RECIPIENT } from '@runner/testing/age-key';

/** An entry of an archive, with its bytes; the header may name another size. */
export interface Made extends TarEntry {
  readonly bytes: Buffer;
}

/** A file, unless `rest` says something else. */
export function made(path: string, text = '', rest: Partial<TarEntry> = {}): Made {
  const bytes = Buffer.from(text);
  const about = { type: 'file' as const, mode: 0o644, mtime: 1_700_000_000, owner: '', target: '' };
  return { path, size: bytes.length, bytes, ...about, ...rest };
}

/** A manifest; `about` changes its fields. */
export function manifest(about: object = {}): Made {
  const fields = { version: 1, created: '2026-11-01T00:00:00.000Z', apps: ['shop'], owner: '' };
  return made('backup.json', JSON.stringify({ ...fields, ...about }));
}

/** The bytes of an archive, not compressed. */
export function archiveOf(entries: readonly Made[]): Buffer {
  const parts = entries.flatMap((entry) => [
    ...[headerOf(entry), entry.bytes, paddingOf(entry.bytes.length)],
  ]);
  return Buffer.concat([...parts, END]);
}

/** Compresses and encrypts an archive, which may be larger than the memory. */
export async function sealed(parts: Iterable<Uint8Array>): Promise<Buffer> {
  const packed = pipeline(Readable.from(parts), createGzip(), () => {});
  const chunks: Uint8Array[] = [];
  for await (const chunk of await encrypted(packed, { recipients: [RECIPIENT] }))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}
