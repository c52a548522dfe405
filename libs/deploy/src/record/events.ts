/** How the events of a deploy, a rollback and a recovery are made and recorded. */
import { appendEvent, keepForLater } from '@runner/common/audit/append';
import { completeEvent, type DeployEvent } from '@runner/common/audit/events';
import { Failure } from '@runner/common/foundation/failure';
import { cleanRecord } from '@runner/common/redaction/record';
import type { Job, Move } from './operation.ts';

/** What identifies the deploy that an event belongs to. */
export type EventOrigin = Pick<Job, 'io' | 'app' | 'redact' | 'deployId' | 'trigger'>;

/** An event, redacted, with the fields that every event of a deploy has. */
export function eventOf(
  {
    io,
    app,
    redact,
    deployId,
    trigger,
    commit,
    version,
  }: EventOrigin & Pick<Job, 'commit' | 'version'>,
  kind: DeployEvent['event_type'],
  fields: Partial<DeployEvent> & { instance: string },
): DeployEvent {
  const common = { project: app.app, version, deploy_id: deployId, commit, trigger };
  return cleanRecord(completeEvent({ event_type: kind, ...common, ...fields }, io), redact);
}

/** The event of an instance that went back to `to`. */
export function rolledBackEvent(
  origin: EventOrigin,
  { instance, from, to }: Move & { to: NonNullable<Move['to']> },
  reason: string,
): DeployEvent {
  const { commit, version } = to;
  const fields = { instance, from_version: from.version, reason };
  return eventOf({ ...origin, commit, version }, 'RollbackSuccess', fields);
}

/** What recording needs. */
type Recording = Pick<Job, 'paths'> & { readonly reporter: Pick<Job['reporter'], 'note'> };

/**
 * Records an event without holding up the operation: an event that cannot be appended is kept for
 * the next command that can.
 */
export function recordAnyway({ paths, reporter }: Recording, event: DeployEvent): void {
  try {
    appendEvent(paths, event);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    try {
      keepForLater(paths, event);
      reporter.note(
        `${error.message}; the event is kept and will be appended later (${error.code})`,
      );
    } catch {
      reporter.note(
        `${error.message}; the event ${event.event_type} of deploy ${event.deploy_id} is lost (${error.code})`,
      );
    }
  }
}

/** Records an event and sends it to the chats. */
export function announce(operation: Recording & Pick<Job, 'notifier'>, event: DeployEvent): void {
  recordAnyway(operation, event);
  operation.notifier.send(event);
}
