/** How the events of a deploy, a rollback and a recovery are made and recorded. */
import { appendEvents } from '@runner/common/audit/append';
import { completeEvent } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import { keepForLater } from '@runner/common/audit/kept';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { cleanRecord } from '@runner/common/redaction/record';
import type { Job, MoveBack } from './operation.ts';

/** What identifies the deploy that an event belongs to. */
export type EventOrigin = Pick<
  Job,
  'io' | 'app' | 'redact' | 'deployId' | 'trigger' | 'commit' | 'version'
> &
  Partial<Pick<Job, 'about'>>;

type Fields = Partial<DeployEvent>;

/**
 * An event of a deploy: a record for each of its instances, redacted, with the fields that every event
 * of a deploy has. `file` names their domains.
 */
export function eventsOf(
  origin: EventOrigin,
  kind: DeployEvent['event_type'],
  instances: readonly string[],
  file: DeployFile | undefined,
  fields: Fields | ((instance: string) => Fields),
): DeployEvent[] {
  const { io, app, redact, deployId, trigger, commit, version, about } = origin;
  const common = {
    // The same time in all: they are one event.
    timestamp: io.now().toISOString(),
    ...{ event_type: kind, project: app.app, version, deploy_id: deployId },
    ...{ commit, trigger, user: initiatorOf(io, trigger), ...about },
  };
  return instances.map((instance) => {
    const domain = file?.instances.find(({ name }) => name === instance)?.domain;
    const place = { instance, ...(domain !== undefined && { domain }), instances: [...instances] };
    const own = typeof fields === 'function' ? fields(instance) : fields;
    return cleanRecord(completeEvent({ ...common, ...place, ...own }, io), redact);
  });
}

/** What an event says about instances that rolled back; `file` is the `.deploy.yml` they rolled back to. */
interface BackFacts {
  readonly file: DeployFile | undefined;
  readonly reason: string;
  readonly more?: Fields;
}

/** The events of instances that rolled back. Those with the same versions and reason are one event. */
export function rolledBackEvents<M extends MoveBack>(
  { io, app, redact, deployId, trigger }: Omit<EventOrigin, 'commit' | 'version' | 'about'>,
  moves: readonly M[],
  factsOf: (move: M) => BackFacts,
): DeployEvent[] {
  const wayOf = (move: M) => {
    const { from, to } = move;
    const { reason } = factsOf(move);
    return JSON.stringify([from.version, from.commit, to.version, to.commit, reason]);
  };
  return [...new Set(moves.map(wayOf))].flatMap((way) => {
    const [first, ...others] = moves.filter((move) => wayOf(move) === way) as [M, ...M[]];
    const { file, reason, more } = factsOf(first);
    const { commit, version } = first.to;
    const origin = { io, app, redact, deployId, trigger, commit, version };
    const names = [first, ...others].map(({ instance }) => instance);
    const fields = { from_version: first.from.version, reason, ...more };
    return eventsOf(origin, 'RollbackSuccess', names, file, fields);
  });
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
