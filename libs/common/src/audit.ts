/** The audit log: durable appends. Reading is in audit-scan.ts. */
import { closeSync, constants, fdatasyncSync, fstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { giveToOwnerOf, syncFolder, writeFully, writeWhole } from './atomic-write.ts';
import type { DeployEvent } from './events.ts';
import { Failure, systemCode, systemWords } from './failure.ts';
import { makeFolder, namesIn, readIfThere, readRange, removeIfThere } from './files.ts';
import { jsonLine } from './harmless.ts';
import { takeLock } from './lock.ts';
import type { Paths } from './paths.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;

/** A record as its line in the log. */
export function lineOf(event: DeployEvent): string {
  return `${jsonLine(event)}\n`;
}

/**
 * Appends lines (each ending in a newline) with one write and one fdatasync; when it returns they
 * are on disk. A torn tail that a killed writer left is ended with a newline first, so that it
 * cannot swallow the new record. The file is opened for every append, so rotation by rename needs
 * no signal. Throws `audit_unwritable`.
 */
export function appendLines(paths: Paths, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const path = paths.auditLog;
  try {
    const fd = openLog(path);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw new Failure('audit_unwritable', 'it is not a regular file');
      const isNew = stat.size === 0;
      // After a rotation root may be the first to append.
      if (isNew && stat.uid === 0 && stat.nlink === 1) giveToOwnerOf(dirname(path), fd);
      const torn = stat.size > 0 && readRange(fd, stat.size - 1, 1)[0] !== NEWLINE;
      writeFully(fd, Buffer.from((torn ? '\n' : '') + lines.join(''), 'utf8'));
      fdatasyncSync(fd);
      // Its bytes are on disk; its name is when the folder is.
      if (isNew) syncFolder(dirname(path));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const why = error instanceof Failure ? error.message : systemWords(error);
    throw new Failure('audit_unwritable', `cannot append to the audit log ${path}: ${why}`);
  }
}

function openLog(path: string): number {
  const open = () => openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o640);
  try {
    return open();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    syncFolder(dirname(dirname(path)));
    return open();
  }
}

/** Appends one event durably, after those that had to wait. Throws `audit_unwritable`. */
export function appendEvent(paths: Paths, event: DeployEvent): void {
  appendKept(paths);
  appendLines(paths, [lineOf(event)]);
}

/**
 * Keeps an event that cannot be appended in `spool/audit/`, whole and durable; the next command
 * that can append does so, and `late: true` tells why it stands behind younger ones. Throws when not
 * even that can be written.
 */
export function keepForLater(paths: Paths, event: DeployEvent): void {
  makeFolder(paths.auditSpool, 0o700);
  const time = event.timestamp.replace(/[^0-9]/g, '');
  const name = `${time}-${event.deploy_id}-${event.event_type}.jsonl`;
  writeWhole(join(paths.auditSpool, name), lineOf({ ...event, late: true }));
}

/** The longest line that audit-scan.ts reads. */
const KEPT_MAX = 16_777_216;

/** A kept event; undefined when something else stands there, which is left and holds up nobody. */
function keptLine(path: string): string | undefined {
  try {
    return readIfThere(path, KEPT_MAX)?.toString('utf8');
  } catch {
    return undefined;
  }
}

/** Appends the events that had to wait, oldest first. Throws `audit_unwritable`. */
export function appendKept(paths: Paths): void {
  const waiting = () => namesIn(paths.auditSpool).filter((name) => name.endsWith('.jsonl'));
  if (waiting().length === 0) return;
  // A dot: no app can have a lock of this name. Whoever holds it does the same work.
  const lock = takeLock(join(paths.locksDir, '.audit-spool.lock'), 0);
  if (!lock) return;
  try {
    for (const name of waiting()) {
      const path = join(paths.auditSpool, name);
      const line = keptLine(path);
      if (line === undefined) continue;
      if (line !== '') appendLines(paths, [line]);
      removeIfThere(path);
    }
  } finally {
    lock.release();
  }
}

/** The same for a reader: what still cannot be appended is left for the next command. */
export function appendWaiting(paths: Paths): void {
  try {
    appendKept(paths);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}
