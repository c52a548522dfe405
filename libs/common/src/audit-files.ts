/** The files of the audit log: the live one and those that were rotated, also compressed. */
import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure, systemCode, systemFailure } from './failure.ts';
import { namesIn } from './files.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import type { Paths } from './paths.ts';

/**
 * The live log and its rotated files (`.1`, `.2.gz`, …), newest first; only those that exist. A file
 * that is just being compressed counts once.
 */
export function logFiles(paths: Paths): string[] {
  const folder = dirname(paths.auditLog);
  const live = basename(paths.auditLog);
  const number = (name: string) => Number(name.slice(live.length + 1).replace('.gz', ''));
  const names = namesIn(folder).filter((name) => name.startsWith(live));
  const rotated = names
    .filter((name) => /^\.\d{1,6}(\.gz)?$/.test(name.slice(live.length)))
    .filter((name) => !(name.endsWith('.gz') && names.includes(name.slice(0, -3))))
    .sort((a, b) => number(a) - number(b));
  return [...names.filter((name) => name === live), ...rotated].map((name) => join(folder, name));
}

/** Opens a file of the log for reading. Throws `file_unreadable`; undefined when it is gone. */
export function openLog(path: string): number | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw systemFailure(error, `read ${path}`, 'file_unreadable');
  }
  throw new Failure('file_unreadable', `cannot read ${path}: it is not a file`);
}

/** What a compressed file of the log holds, block by block, from its open descriptor; closes it. */
export async function* gzipBlocks(path: string, fd: number): AsyncGenerator<Buffer> {
  const source = createReadStream(path, { fd });
  const stream = source.pipe(process.getBuiltinModule('node:zlib').createGunzip());
  source.on('error', (error) => stream.destroy(error));
  try {
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}

/** Lines of a compressed file, first to last; one that is too long is passed over. */
export async function* gzipLines(path: string): AsyncGenerator<Buffer> {
  const fd = openLog(path);
  if (fd === undefined) return;
  const splitter = new LineSplitter();
  for await (const block of gzipBlocks(path, fd)) yield* splitter.take(block).filter(isKept);
  yield* splitter.rest().filter(isKept);
}

function isKept(line: Line): line is Buffer {
  return line !== undefined;
}
