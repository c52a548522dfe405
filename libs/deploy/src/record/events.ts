/** How the events of a deploy, a rollback and a recovery are made and recorded. */
import { appendEvents } from '@runner/common/audit/append';
import { completeEvent } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import { keepForLater } from '@runner/common/audit/kept';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { cleanRecord } from '@runner/common/redaction/record';
import type { Job, Move } from './operation.ts';

/** What identifies the deploy that an event belongs to. */
export type EventOrigin = Pick<
  Job,
  'io' | 'app' | 'redact' | 'deployId' | 'trigger' | 'commit' | 'version'
> &
  Partial<Pick<Job, 'about'>>;

type Fields = Partial<DeployEvent>;

/** An event of one instance, redacted, with the fields that every event of a deploy has. */
function eventOf(
  origin: EventOrigin,
  kind: DeployEvent['event_type'],
  instance: string,
  file: DeployFile | undefined,
  fields: Fields,
): DeployEvent {
  const { io, app, redact, deployId, trigger, commit, version, about } = origin;
  const domain = file?.instances.find(({ name }) => name === instance)?.domain;
  const common = {
    ...{ event_type: kind, project: app.app, instance, version, deploy_id: deployId },
    ...{ commit, trigger, user: initiatorOf(io, trigger), ...about },
    ...(domain !== undefined && { domain }),
  };
  return cleanRecord(completeEvent({ ...common, ...fields }, io), redact);
}

/** An event of a deploy: a record for each of its instances. `file` names their domains. */
export function eventsOf(
  origin: EventOrigin,
  kind: DeployEvent['event_type'],
  instances: readonly string[],
  file: DeployFile | undefined,
  fields: Fields | ((instance: string) => Fields),
): DeployEvent[] {
  // The same time in all: they are one event.
  const timestamp = origin.io.now().toISOString();
  return instances.map((instance) => {
    const own = typeof fields === 'function' ? fields(instance) : fields;
    const common = { timestamp, instances: [...instances] };
    return eventOf(origin, kind, instance, file, { ...common, ...own });
  });
}

/** The event of an instance that went back to `to`; `file` is the `.deploy.yml` of that. */
export function rolledBackEvent(
  origin: Omit<EventOrigin, 'commit' | 'version' | 'about'>,
  { instance, from, to }: Move & { to: NonNullable<Move['to']> },
  file: DeployFile | undefined,
  reason: string,
  more: Fields = {},
): DeployEvent {
  const { io, app, redact, deployId, trigger } = origin;
  const { commit, version } = to;
  const target = { io, app, redact, deployId, trigger, commit, version };
  const fields = { from_version: from.version, reason, ...more };
  return eventOf(target, 'RollbackSuccess', instance, file, fields);
}

/** What recording needs. */
type Recorder = Pick<Job, 'paths'> & { readonly reporter: Pick<Job['reporter'], 'note'> };

/**
 * Records events without holding up the operation: those that cannot be appended are kept for the
 * next command that can. Returns them as recorded.
 */
export function recordAnyway(
  { paths, reporter }: Recorder,
  events: readonly DeployEvent[],
): readonly DeployEvent[] {
  try {
    return appendEvents(paths, events);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    for (const event of events) keepOrLose({ paths, reporter }, event, error);
    return events;
  }
}

function keepOrLose({ paths, reporter }: Recorder, event: DeployEvent, error: Failure): void {
  try {
    keepForLater(paths, event);
    reporter.note(`${error.message}; the event is kept and will be appended later (${error.code})`);
  } catch {
    reporter.note(
      `${error.message}; the event ${event.event_type} of deploy ${event.deploy_id} is lost (${error.code})`,
    );
  }
}

/** Records events and sends them to the chats. */
export function announce(
  operation: Recorder & Pick<Job, 'notifier'>,
  events: readonly DeployEvent[],
): void {
  for (const event of recordAnyway(operation, events)) operation.notifier.send(event);
}
