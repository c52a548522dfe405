/** Commits and tags of a mirror, as they are stored: no graft, replacement or border of a clone counts. */
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Failure } from '@runner/common/foundation/failure';
import { startGit } from '../git/git.ts';
import { historyOf } from '../git/history.ts';
import type { GitSource } from '../git/source.ts';

/** A commit or tag, byte for byte. */
export interface RawObject {
  readonly type: string;
  readonly body: Buffer;
}

/** Reads objects from one process of git. */
export interface ObjectReader {
  /** undefined if the mirror lacks it. Throws `git_failed` for one that is not what its id says. */
  read(id: string): Promise<RawObject | undefined>;
}

/** Largest commit or tag, in bytes. */
const LARGEST = 4_194_304;
const HEADER = /^[0-9a-f]+ (?:(missing)|([a-z]+) (\d+))$/;

/** Reads from the mirror of a source and from its history. */
export async function withObjects<T>(
  source: GitSource,
  work: (reader: ObjectReader) => Promise<T>,
): Promise<T> {
  const { io, mirror } = source;
  const lender = historyOf(source).mirror;
  const options = { cwd: mirror, input: '', ...(existsSync(lender) && { lender }) };
  const child = await startGit(io, ['cat-file', '--batch'], options);
  child.on('error', () => {});
  const answers = answersOf(child);
  const read: ObjectReader['read'] = async (id) => {
    child.stdin?.write(`${id}\n`);
    const { value: found } = await answers.next();
    if (found === undefined) throw new Failure('git_failed', 'git ended while it read commits');
    if (!('body' in found)) return undefined;
    const { type, body } = found;
    const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
    if (hash.update(`${type} ${body.length}\0`).update(body).digest('hex') === id) return found;
    throw new Failure('git_failed', `${id} in ${mirror} is not what its id says`);
  };
  try {
    return await work({ read });
  } finally {
    child.stdin?.end();
  }
}

/** The answers of `git cat-file --batch`, in the order of the questions. */
async function* answersOf({
  stdout,
}: ChildProcess): AsyncGenerator<RawObject | Record<never, never>> {
  if (!stdout) return;
  const chunks = stdout[Symbol.asyncIterator]();
  let bytes = Buffer.alloc(0);
  const more = async () => {
    const { done, value } = await chunks.next();
    if (!done) bytes = Buffer.concat([bytes, value]);
    return !done;
  };
  for (;;) {
    while (!bytes.includes(0x0a)) if (!(await more())) return;
    const end = bytes.indexOf(0x0a) + 1;
    const [, isMissing, type = '', size] = HEADER.exec(bytes.toString('latin1', 0, end - 1)) ?? [];
    const length = Number(size);
    if (isMissing === undefined && !(length <= LARGEST)) return;
    bytes = bytes.subarray(end);
    if (isMissing !== undefined) {
      yield {};
      continue;
    }
    while (bytes.length <= length) if (!(await more())) return;
    const body = bytes.subarray(0, length);
    bytes = bytes.subarray(length + 1);
    yield { type, body };
  }
}
