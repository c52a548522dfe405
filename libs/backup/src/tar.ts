/** Reads and writes tar archives (POSIX pax) as streams. */
import { Failure } from '@runner/common/foundation/failure';

const BLOCK = 512;
/** Longest extended header, in bytes. */
const EXTENDED_MAX = 65_536;
/** What may follow the end, in bytes: other programs fill up their last blocks. */
const AFTER_MAX = 1_048_576;
/** A larger size is in an extended header. */
const SIZE_MAX = 2 ** 33;

/** The metadata of an entry. Its path and target are byte strings: a name on Linux need not be UTF-8. */
export interface TarEntry {
  /** Relative, without `..`. */
  readonly path: string;
  readonly type: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly size: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  /** Name of the owner. */
  readonly owner: string;
  /** Name of the group; absent: the owner's. */
  readonly group?: string;
  /** Target of a symbolic link. */
  readonly target: string;
}

/** Text as a byte string: a character per byte of its UTF-8. */
export function byteString(text: string | Buffer): string {
  return Buffer.from(text as string).toString('latin1');
}

/** A byte string as text. */
export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The names in a path, as bytes. */
export function namesOf(path: string): Buffer[] {
  return path.split('/').map((name) => Buffer.from(name, 'latin1'));
}

const TYPES = { file: '0', link: '2', folder: '5' } as const;

/** The header of an entry. The bytes of a file follow, then `paddingOf` its size. */
export function headerOf(entry: TarEntry): Buffer {
  const own = block(entry, TYPES[entry.type]);
  const isPlain = entry.path.length < 100 && entry.target.length < 100;
  if (isPlain && entry.size < SIZE_MAX) return own;
  const records = [record('path', entry.path), record('size', String(entry.size))];
  if (entry.target !== '') records.push(record('linkpath', entry.target));
  const extended = Buffer.from(records.join(''), 'latin1');
  const before = { ...entry, path: 'PaxHeader', target: '', size: extended.length };
  return Buffer.concat([block(before, 'x'), extended, paddingOf(extended.length), own]);
}

/** Zeros that fill the last block of a file. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The end of an archive. */
export const END = Buffer.alloc(2 * BLOCK);

/** `12 path=a/b\n`: the length counts itself. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`.length;
  let length = rest + 1;
  while (String(length).length + rest !== length) length += 1;
  return `${length} ${key}=${value}\n`;
}

function block(
  { path, mode, size, mtime, owner, group = '', target }: TarEntry,
  type: string,
): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number) =>
    (value % 8 ** (length - 1)).toString(8).padStart(length - 1, '0');
  bytes.write(path, 0, 99, 'latin1');
  bytes.write(octal(mode, 8), 100);
  bytes.write(octal(0, 8), 108);
  bytes.write(octal(0, 8), 116);
  bytes.write(octal(size, 12), 124);
  bytes.write(octal(Math.floor(mtime), 12), 136);
  bytes.write(' '.repeat(8), 148);
  bytes.write(type, 156);
  bytes.write(target, 157, 99, 'latin1');
  bytes.write('ustar\x0000', 257);
  bytes.write(owner, 265, 31);
  bytes.write(group, 297, 31);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${octal(sum, 7)}\0 `, 148);
  return bytes;
}

/** Reads exact numbers of bytes from chunks. */
class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Up to `length` bytes; none at the end. */
  async some(length: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return this.#rest;
      this.#rest = Buffer.from(value.buffer, value.byteOffset, value.length);
    }
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const bytes = await this.some(left);
      if (bytes.length === 0) throw unreadable('it ends too early');
      parts.push(bytes);
      left -= bytes.length;
    }
    return Buffer.concat(parts);
  }
}

export function unreadable(why: string): Failure {
  return new Failure('backup_unreadable', `the backup cannot be read: ${why}`);
}

/**
 * Reads an archive to its end; `take` gets each entry with its bytes, which it reads to their end.
 * Throws `backup_unreadable`.
 */
export async function readTar(
  chunks: AsyncIterable<Uint8Array>,
  take: (entry: TarEntry, bytes: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const reader = new ChunkReader(chunks);
  let extended: ReadonlyMap<string, string> | undefined;
  for (;;) {
    const header = await reader.exactly(BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const { entry, isExtended } = parsed(header, extended ?? new Map());
    if (isExtended) {
      if (extended || entry.size > EXTENDED_MAX) throw unreadable('a header is too long');
      extended = recordsIn(await reader.exactly(entry.size));
    } else {
      await take(entry, bytesOf(reader, entry.size));
      extended = undefined;
    }
    await reader.exactly(paddingOf(entry.size).length);
  }
  // The encryption authenticates the whole archive only at its end.
  for (let left = AFTER_MAX; ; ) {
    const { length } = await reader.some(left);
    if (length === 0) return;
    left -= length;
    if (left <= 0) throw unreadable('it continues after its end');
  }
}

async function* bytesOf(reader: ChunkReader, size: number): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; ) {
    const bytes = await reader.some(left);
    if (bytes.length === 0) throw unreadable('it ends too early');
    left -= bytes.length;
    yield bytes;
  }
}

function recordsIn(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  const all = bytes.toString('latin1');
  for (let at = 0; at < all.length; ) {
    const length = Number(/^\d+(?= )/.exec(all.slice(at, at + 8))?.[0]);
    const text = all.slice(at, at + length);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(text) ?? [];
    if (text.length !== length || key === undefined || value === undefined)
      throw unreadable('a header is malformed');
    records.set(key, value);
    at += length;
  }
  return records;
}

function parsed(
  header: Buffer,
  extended: ReadonlyMap<string, string>,
): { readonly entry: TarEntry; readonly isExtended: boolean } {
  const text = (from: number, length: number, encoding: BufferEncoding = 'latin1') =>
    header.toString(encoding, from, from + length).replace(/\0.*$/s, '');
  const number = (from: number, length: number) => Number.parseInt(text(from, length), 8) || 0;
  const type = text(156, 1) || '0';
  const isExtended = type === 'x';
  const kind = Object.entries(TYPES).find(([, each]) => each === type)?.[0];
  if (text(257, 5) !== 'ustar' || (kind === undefined && !isExtended))
    throw unreadable('it was not made by runner backup');
  const entry = {
    path: extended.get('path') ?? text(0, 100),
    type: (kind ?? 'file') as TarEntry['type'],
    mode: number(100, 8) & 0o7777,
    size: Number(extended.get('size') ?? number(124, 12)),
    mtime: number(136, 12),
    owner: text(265, 32, 'utf8'),
    group: text(297, 32, 'utf8'),
    target: extended.get('linkpath') ?? text(157, 100),
  };
  const isSize = Number.isSafeInteger(entry.size) && entry.size >= 0;
  if (!isSize || (entry.type !== 'file' && entry.size > 0))
    throw unreadable('a header is malformed');
  return { entry, isExtended };
}
