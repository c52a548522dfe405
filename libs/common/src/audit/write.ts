/** Writes to the audit log: one writer at a time, each record linked to the previous one. */
import { constants, fdatasyncSync, fstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeLogFolder } from '../files/foreign-root.ts';
import { liveHolder, takeLock } from '../files/lock.ts';
import { readRange } from '../files/read.ts';
import { giveToOwnerOf, syncFolder, writeFully } from '../files/write.ts';
import { closing } from '../foundation/attempt.ts';
import { Failure, systemCode, systemWords } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { chained, FIRST_LINK } from './chain.ts';
import { tipOf } from './tip.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;
/** Longest wait for the log's lock, in seconds. */
const WAIT = 2;

/** The log while this process holds its lock. */
export interface LockedLog {
  /**
   * Appends records, lines `{…}\n`, with one write and one fdatasync; returns them with their links
   * once they are on disk. A torn last line of a killed writer gets its newline first. The file is
   * opened for every append, so that rotation needs no signal. Throws `audit_unwritable`.
   */
  append(records: readonly string[]): readonly string[];
}

/**
 * Runs `use` under the log's lock. Throws `audit_busy` if another process holds it for `wait`
 * seconds, `audit_unwritable`.
 */
export function withLog<T>(paths: Paths, use: (log: LockedLog) => T, wait = WAIT): T {
  // No app's name begins with a dot.
  const path = join(paths.locksDir, '.audit.lock');
  using lock = unlessRefused(paths, () => {
    makeLogFolder(paths, paths.locksDir);
    return takeLock(path, wait, { pid: process.pid });
  });
  if (!lock) {
    const { pid } = liveHolder(path) ?? {};
    throw new Failure('audit_busy', `the audit log is busy${pid ? `: process ${pid} writes` : ''}`);
  }
  return use({ append: (records) => unlessRefused(paths, () => append(paths, records)) });
}

function unlessRefused<T>(paths: Paths, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const why = error instanceof Failure ? error.message : systemWords(error);
    throw new Failure(
      'audit_unwritable',
      `cannot append to the audit log ${paths.auditLog}: ${why}`,
    );
  }
}

function append(paths: Paths, records: readonly string[]): readonly string[] {
  if (records.length === 0) return [];
  const path = paths.auditLog;
  const fd = openToAppend(paths);
  using _file = closing(fd);
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw new Failure('audit_unwritable', 'it is not a regular file');
  const isNew = stat.size === 0;
  // After a rotation, root may be the first to append.
  if (isNew && stat.uid === 0 && stat.nlink === 1) giveToOwnerOf(dirname(path), fd);
  const torn = stat.size > 0 && readRange(fd, stat.size - 1, 1)[0] !== NEWLINE;
  const lines = chained(records, tipOf(paths, fd)?.next ?? FIRST_LINK);
  writeFully(fd, Buffer.from((torn ? '\n' : '') + lines.join(''), 'utf8'));
  fdatasyncSync(fd);
  // Only the folder makes its name durable.
  if (isNew) syncFolder(dirname(path));
  return lines;
}

function openToAppend(paths: Paths): number {
  const path = paths.auditLog;
  const open = () => openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
  try {
    return open();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    makeLogFolder(paths, dirname(path));
    syncFolder(dirname(dirname(path)));
    return open();
  }
}
