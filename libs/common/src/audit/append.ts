/** Durable appends to the audit log. */
import { accessSync, closeSync, constants, fdatasyncSync, fstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Lock, takeLock } from '../files/lock.ts';
import {
  isClosed,
  makeFolder,
  namesIn,
  readIfThere,
  readRange,
  removeIfThere,
} from '../files/read.ts';
import { giveToOwnerOf, syncFolder, writeFully, writeWhole } from '../files/write.ts';
import { Failure, systemCode, systemWords } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { jsonLine } from '../text/harmless.ts';
import type { DeployEvent } from './events.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const NEWLINE = 0x0a;

/** A record as its line in the log. */
export function lineOf(event: DeployEvent): string {
  return `${jsonLine(event)}\n`;
}

/**
 * Appends lines, each ending in a newline, with one write and one fdatasync; on return they are on disk.
 * A torn last line of a killed writer gets its newline first. The file is opened for every append, so
 * that rotation needs no signal. Throws `audit_unwritable`.
 */
export function appendLines(paths: Paths, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const path = paths.auditLog;
  try {
    const fd = openToAppend(path);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw new Failure('audit_unwritable', 'it is not a regular file');
      const isNew = stat.size === 0;
      // After a rotation, root may be the first to append.
      if (isNew && stat.uid === 0 && stat.nlink === 1) giveToOwnerOf(dirname(path), fd);
      const torn = stat.size > 0 && readRange(fd, stat.size - 1, 1)[0] !== NEWLINE;
      writeFully(fd, Buffer.from((torn ? '\n' : '') + lines.join(''), 'utf8'));
      fdatasyncSync(fd);
      // Only the folder makes its name durable.
      if (isNew) syncFolder(dirname(path));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const why = error instanceof Failure ? error.message : systemWords(error);
    throw new Failure('audit_unwritable', `cannot append to the audit log ${path}: ${why}`);
  }
}

function openToAppend(path: string): number {
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

/** Appends events at once, after those that wait. Throws `audit_unwritable`. */
export function appendEvents(paths: Paths, events: readonly DeployEvent[]): void {
  appendKept(paths);
  appendLines(paths, events.map(lineOf));
}

/**
 * Keeps an event that cannot be appended in `spool/audit/`, durably. The next command that can append it
 * does so; `late: true` explains why it follows newer ones. Throws if the spool is not writable either.
 */
export function keepForLater(paths: Paths, event: DeployEvent): void {
  makeFolder(paths.auditSpool, 0o700);
  const time = event.timestamp.replace(/[^0-9]/g, '');
  const instance = encodeURIComponent(event.instance).slice(0, NAME_MAX);
  const owner = event.deploy_id ?? event.project;
  const name = `${time}-${owner}-${event.event_type}-${instance}.jsonl`;
  writeWhole(join(paths.auditSpool, name), lineOf({ ...event, late: true }));
}

/** Limit of the instance in the name of a kept event, in characters. */
const NAME_MAX = 100;

/** The longest line that a reader of the log accepts. */
const KEPT_MAX = 16_777_216;

/** A kept event; undefined for anything else in the spool, which is ignored. */
function keptLine(path: string): string | undefined {
  try {
    return readIfThere(path, KEPT_MAX)?.toString('utf8');
  } catch {
    return undefined;
  }
}

function eventsIn(spool: string): string[] {
  const names = namesIn(spool).filter((name) => name.endsWith('.jsonl'));
  return names.map((name) => join(spool, name));
}

/** Paths of the events that wait, oldest first; empty if the spool cannot be read. */
export function waitingEvents(paths: Paths): string[] {
  try {
    return eventsIn(paths.auditSpool);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/**
 * Appends the events that wait, oldest first, unless this user may not read the spool. Throws
 * `audit_unwritable`; `file_unreadable` if the spool is not a directory.
 */
export function appendKept(paths: Paths): void {
  try {
    if (eventsIn(paths.auditSpool).length === 0) return;
  } catch (error) {
    if (isClosed(paths.auditSpool)) return;
    throw error;
  }
  const lock = spoolLock(paths);
  if (!lock) return;
  try {
    for (const path of waitingEvents(paths)) {
      const line = keptLine(path);
      if (line === undefined) continue;
      if (line !== '') appendLines(paths, [line]);
      removeIfThere(path);
    }
  } finally {
    lock.release();
  }
}

/**
 * Undefined if another process is at work, or if this user cannot remove events from the spool: each
 * command would append them again.
 */
function spoolLock(paths: Paths): Lock | undefined {
  try {
    accessSync(paths.auditSpool, constants.W_OK);
    // No app's name begins with a dot.
    return takeLock(join(paths.locksDir, '.audit-spool.lock'), 0);
  } catch (error) {
    if (error instanceof Failure || systemCode(error) !== undefined) return undefined;
    throw error;
  }
}

/** The same for a reader: returns the lines that still wait because they cannot be appended. */
export function appendWaiting(paths: Paths): string[] {
  if (waitingEvents(paths).length === 0) return [];
  try {
    appendKept(paths);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  return waitingLines(paths);
}

/** The lines of the events that wait, oldest first. */
export function waitingLines(paths: Paths): string[] {
  return waitingEvents(paths).flatMap((path) => keptLine(path) || []);
}

/** A reader's note about these lines; undefined without any. */
export function waitingNote(lines: readonly string[]): string | undefined {
  if (lines.length === 0) return undefined;
  return `${lines.length} event(s) wait in spool/audit until the log is writable; they are included`;
}
