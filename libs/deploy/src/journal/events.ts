/** How the events of a deploy, a rollback and a recovery are made and recorded. */
import { appendEvents } from '@runner/common/audit/append';
import { completeEvent } from '@runner/common/audit/complete';
import type { DeployEvent } from '@runner/common/audit/events';
import { keepForLater } from '@runner/common/audit/kept';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { orderIn } from '@runner/common/foundation/user';
import { cleanRecord } from '@runner/common/redaction/record';
import type { Deploy, Move, Operation } from './operation.ts';

/** What identifies the operation that an event belongs to, and the version that it is about. */
export type EventOrigin = Pick<Deploy, 'io' | 'app' | 'redact' | 'deployId' | 'trigger' | 'user'> &
  Pick<Deploy, 'commit' | 'version'> &
  Partial<Pick<Deploy, 'about' | 'approval'>>;

export type EventFields = Partial<DeployEvent>;

/** Which event: of what, of which instances. */
interface EventRequest {
  readonly origin: EventOrigin;
  readonly kind: DeployEvent['event_type'];
  readonly instances: readonly string[];
  /** Names their domains. */
  readonly file?: DeployFile | undefined;
}

/**
 * An event of an operation: a record for each of its instances, redacted, with the fields that every
 * event of a deploy has.
 */
export function eventsOf(
  { origin, kind, instances, file }: EventRequest,
  fields: EventFields | ((instance: string) => EventFields),
): DeployEvent[] {
  const { io, app, redact, deployId, trigger, user, commit, version, about, approval } = origin;
  const order = trigger === 'fleet' ? orderIn(io.env) : undefined;
  const common = {
    // The same time in all: they are one event.
    timestamp: io.now().toISOString(),
    event_type: kind,
    project: app.app,
    version,
    deploy_id: deployId,
    commit,
    trigger,
    user,
    ...(order !== undefined && { order }),
    ...about,
    ...approval,
  };
  return instances.map((instance) => {
    const domain = file?.instances.find(({ name }) => name === instance)?.domain;
    const place = { instance, ...(domain !== undefined && { domain }), instances: [...instances] };
    const own = typeof fields === 'function' ? fields(instance) : fields;
    return cleanRecord(completeEvent({ ...common, ...place, ...own }, io), redact);
  });
}

/** The events of instances that rolled back. Those with the same versions and reason are one event. */
export function rolledBackEvents<M extends Move & { readonly to: NonNullable<Move['to']> }>(
  op: Operation,
  moves: readonly M[],
  factsOf: (move: M) => EventFields & { file: DeployFile | undefined; reason: string },
): DeployEvent[] {
  const wayOf = (move: M) => {
    const { from, to } = move;
    return JSON.stringify([from.version, from.commit, to.version, to.commit, factsOf(move).reason]);
  };
  return [...new Set(moves.map(wayOf))].flatMap((way) => {
    const [first, ...others] = moves.filter((move) => wayOf(move) === way) as [M, ...M[]];
    const { file, ...facts } = factsOf(first);
    const { commit, version } = first.to;
    const origin = { ...op, commit, version, about: {} };
    const names = [first, ...others].map(({ instance }) => instance);
    const fields = { from_version: first.from.version, ...facts };
    return eventsOf({ origin, kind: 'RollbackSuccess', instances: names, file }, fields);
  });
}

type Recorder = Pick<Operation, 'paths'> & {
  readonly reporter: Pick<Operation['reporter'], 'note' | 'recorded'>;
  /** What cannot be recorded or kept throws: it is announced again. */
  readonly mustKeep?: true | undefined;
  /** Of several recordings only the first waits for a busy log. */
  readonly shared?: { busy?: Failure };
};

/** Records events, and reports them. Throws `audit_busy`, `audit_unwritable`. */
export function record(
  { paths, reporter }: Recorder,
  events: readonly DeployEvent[],
): readonly DeployEvent[] {
  const recorded = appendEvents(paths, events);
  for (const event of recorded) reporter.recorded?.(event);
  return recorded;
}

/**
 * Records events without holding up the operation: those that cannot be appended are kept for the
 * next command that can. Returns them as recorded.
 */
export function recordAnyway(
  { paths, reporter, mustKeep, shared }: Recorder,
  events: readonly DeployEvent[],
): readonly DeployEvent[] {
  try {
    if (shared?.busy) throw shared.busy;
    return record({ paths, reporter }, events);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (shared && error.code === 'audit_busy') shared.busy = error;
    for (const event of events) keepOrLose({ paths, reporter, mustKeep }, event, error);
    return events;
  }
}

function keepOrLose(op: Recorder, event: DeployEvent, error: Failure): void {
  const { paths, reporter, mustKeep } = op;
  try {
    const kept = keepForLater(paths, event);
    reporter.recorded?.(kept);
    reporter.note(`${error.message}; the event is kept and will be appended later (${error.code})`);
  } catch (lost) {
    if (mustKeep) throw lost;
    reporter.note(
      `${error.message}; the event ${event.event_type} of deploy ${event.deploy_id} is lost (${error.code})`,
    );
  }
}

/** Records events and sends them to the chats. */
export function announce(
  op: Recorder & Pick<Operation, 'notifier'>,
  events: readonly DeployEvent[],
): void {
  for (const event of recordAnyway(op, events)) op.notifier.send(event);
}
