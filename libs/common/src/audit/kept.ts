/** Events that wait in `spool/audit/` until they can be appended. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { makeLogFolder } from '../files/foreign-root.ts';
import { LINE_MAX } from '../files/lines-backward.ts';
import { isClosed, isThere, namesIn, readTextIfThere, removeIfThere } from '../files/read.ts';
import { writeWhole } from '../files/write.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { jsonLine } from '../text/harmless.ts';
import { unlinked, unlinkedLine } from './chain.ts';
import type { DeployEvent } from './events.ts';
import { readRecord } from './record.ts';
import { chainedLines } from './tip.ts';
import { type LockedLog, withLog } from './write.ts';

/** Limit of the instance in the name of a kept event, in characters. */
const NAME_MAX = 100;

/**
 * Keeps an event that cannot be appended in `spool/audit/`, durably. The next command that can append it
 * does so; `late: true` explains why it follows newer ones. Throws if the spool is not writable either.
 */
export function keepForLater(paths: Paths, event: DeployEvent): DeployEvent {
  makeLogFolder(paths, paths.auditSpool, 0o700);
  const time = event.timestamp.replace(/[^0-9]/g, '');
  const instance = encodeURIComponent(event.instance).slice(0, NAME_MAX);
  const owner = event.deploy_id ?? event.project;
  const base = `${time}-${owner}-${event.event_type}-${instance}-${process.pid}`;
  let path = join(paths.auditSpool, `${base}.jsonl`);
  for (let number = 2; isThere(path); number += 1)
    path = join(paths.auditSpool, `${base}-${number}.jsonl`);
  const late = { ...event, late: true };
  writeWhole(path, `${jsonLine(late)}\n`);
  return late;
}

/** The line of a kept event; undefined for anything else in the spool, which is ignored. */
function keptLine(path: string): string | undefined {
  try {
    const record = readRecord(readTextIfThere(path, LINE_MAX) ?? '');
    return record && jsonLine(unlinked(record));
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
  return unlessFailure(() => eventsIn(paths.auditSpool), []);
}

/**
 * Appends the events that wait, oldest first, unless this user may not read the spool or another
 * process is appending. Throws `audit_unwritable`; `file_unreadable` if the spool is not a directory.
 */
export function appendKept(paths: Paths): void {
  try {
    if (eventsIn(paths.auditSpool).length === 0) return;
  } catch (error) {
    if (isClosed(paths.auditSpool)) return;
    throw error;
  }
  if (!isOurs(paths.auditSpool)) return;
  try {
    withLog(paths, (log) => appendKeptTo(paths, log), 0);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'audit_busy') throw error;
  }
}

/** The same under the log's lock. */
export function appendKeptTo(paths: Paths, log: LockedLog): void {
  const waiting = waitingEvents(paths);
  if (waiting.length === 0 || !isOurs(paths.auditSpool)) return;
  // A writer may have been killed after it had appended them.
  const recent = newestLines(paths, waiting.length + 1);
  const lines = waiting.map(keptLine);
  const missing = lines.filter((line) => line !== undefined && !recent.has(line));
  log.append(missing.map((line) => `${line}\n`));
  for (const [index, path] of waiting.entries())
    if (lines[index] !== undefined) removeIfThere(path);
}

/** The last lines of the log as they were before they were chained; a rotation may have moved them. */
function newestLines(paths: Paths, count: number): Set<string> {
  const lines = new Set<string>();
  try {
    for (const line of chainedLines(paths)) {
      lines.add(unlinkedLine(line.toString('utf8')));
      if (lines.size >= count) break;
    }
  } catch (error) {
    // Appending reports it.
    if (!(error instanceof Failure)) throw error;
  }
  return lines;
}

/** Whether this user can remove events from the spool: each command would append them again. */
function isOurs(spool: string): boolean {
  try {
    accessSync(spool, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Appends them for a reader: returns the lines that still wait because they cannot be appended. */
export function appendWaiting(paths: Paths): string[] {
  if (waitingEvents(paths).length === 0) return [];
  unlessFailure(() => appendKept(paths), undefined);
  return waitingLines(paths);
}

/** The lines of the events that wait, oldest first. */
export function waitingLines(paths: Paths): string[] {
  return waitingEvents(paths).flatMap((path) => keptLine(path) || []);
}

/** A reader's note about these lines. */
export function noteWaiting(lines: readonly string[], note: (text: string) => void): void {
  const waiting = `${lines.length} event(s) wait in spool/audit until the log is writable`;
  if (lines.length > 0) note(`${waiting}; they are included`);
}
