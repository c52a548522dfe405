/** Durable appends to the audit log. */
import type { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { jsonLine } from '../text/harmless.ts';
import { linkOf } from './chain.ts';
import type { DeployEvent } from './events.ts';
import { appendKeptTo, keepForLater } from './kept.ts';
import { readRecord } from './record.ts';
import { withLog } from './write.ts';

export function lineOf(event: DeployEvent): string {
  return `${jsonLine(event)}\n`;
}

/**
 * Appends events, after those that wait, and returns them as they stand in the log, each linked to
 * the one before it; they are on disk then. Throws `audit_busy`, `audit_unwritable`.
 */
export function appendEvents(paths: Paths, events: readonly DeployEvent[]): DeployEvent[] {
  const lines = appendLines(paths, events.map(lineOf));
  return events.map((event, index) => appended(event, lines[index] as string));
}

/** The same for the lines of events. */
export function appendLines(paths: Paths, lines: readonly string[]): readonly string[] {
  return withLog(paths, (log) => {
    appendKeptTo(paths, log);
    return log.append(lines);
  });
}

/** An event as it stands in the log, in this line. */
export function appended(event: DeployEvent, line: string): DeployEvent {
  return { ...event, ...linkOf(readRecord(line) ?? {}) };
}

/** Keeps an event for later because the log is `busy`; a deploy must not begin without its record. */
export function keepUnlessStart(paths: Paths, event: DeployEvent, busy: Failure): DeployEvent {
  if (busy.code !== 'audit_busy' || event.event_type === 'DeployStarted') throw busy;
  return keepForLater(paths, event);
}
