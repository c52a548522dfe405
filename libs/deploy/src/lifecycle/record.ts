/** What is recorded of a start, stop or restart: in the audit log, and in the state of the app. */
import { changeApp } from '@runner/common/apps/change';
import { withoutStopped } from '@runner/common/apps/operator';
import { requireApp } from '@runner/common/apps/store';
import { completeEvent } from '@runner/common/audit/complete';
import type { OperatorEvent } from '@runner/common/audit/events';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { cleanRecord } from '@runner/common/redaction/record';
import { recordAnyway } from '../journal/events.ts';
import type { Operation } from '../journal/operation.ts';

/** What to do. */
export type Verb = 'start' | 'stop' | 'restart';

/** What became of one instance. */
export interface LifeInstance {
  instance: string;
  version: string;
  /** `unchanged`: it ran already, or was stopped already. */
  result: 'started' | 'stopped' | 'restarted' | 'unchanged' | 'failed';
  error?: string;
}

const KINDS: Readonly<Record<Verb, OperatorEvent>> = {
  start: 'AppStarted',
  stop: 'AppStopped',
  restart: 'AppRestarted',
};

/** Records what was done with each instance; an unchanged instance has no event. */
export function recordDone(
  operation: Operation,
  verb: Verb,
  instances: readonly LifeInstance[],
  reason: string | undefined,
): void {
  const { io, app, redact } = operation;
  const user = initiatorOf(io, 'manual');
  const timestamp = io.now().toISOString();
  const isNew = ({ result }: LifeInstance) => result !== 'failed' && result !== 'unchanged';
  const done = instances.filter(isNew);
  const names = done.map(({ instance }) => instance);
  const events = done.map(({ instance, version }) =>
    cleanRecord(
      completeEvent(
        {
          ...{ timestamp, event_type: KINDS[verb], project: app.app, instance, version },
          ...{ deploy_id: null, user, instances: names, ...(reason !== undefined && { reason }) },
        },
        io,
      ),
      redact,
    ),
  );
  recordAnyway(operation, events);
  const left = (result: LifeInstance['result']) =>
    result === 'failed' || (result === 'unchanged' && verb === 'stop');
  const good = instances.filter(({ result }) => !left(result));
  try {
    const names = good.map(({ instance }) => instance);
    remember(operation, verb, names, { since: timestamp, by: user, reason: reason ?? null });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, `${error.message}; the change was not saved`);
  }
}

/**
 * Remembers it before it is done, so that what a kill leaves is as the operator wants it. Returns what
 * takes that back after a failure. A full disk does not keep an app running.
 */
export function rememberAhead(
  operation: Operation,
  verb: Verb,
  name: string,
  reason: string | undefined,
): () => void {
  const { io, paths, app } = operation;
  const { stopped = null } = requireApp(paths, app.app);
  const wasStopped = stopped?.instances.includes(name) ?? false;
  if (wasStopped === (verb === 'stop')) return () => {};
  const by = initiatorOf(io, 'manual');
  const anyway = (change: () => void) => unlessFailure(change, undefined);
  const how = { since: io.now().toISOString(), by, reason: reason ?? null };
  anyway(() => remember(operation, verb, [name], how));
  return () => anyway(() => changeApp(paths, io, verb, app.app, (now) => ({ ...now, stopped })));
}

/** The state is what `fetch`, doctor and the next boot go by. */
function remember(
  { io, paths, app: { app } }: Operation,
  verb: Verb,
  names: readonly string[],
  how: { since: string; by: string; reason: string | null },
): void {
  if (names.length === 0) return;
  changeApp(paths, io, verb, app, (now) => {
    const rest = withoutStopped(now, names);
    if (verb === 'stop') {
      const instances = [...(rest?.instances ?? []), ...names];
      // One reason for all: that of the others stays if there is no newer one.
      const kept = now.stopped?.reason ?? null;
      return { ...now, stopped: { ...how, reason: how.reason ?? kept, instances } };
    }
    const instances = { ...now.instances };
    for (const name of names) {
      const instance = instances[name];
      if (instance?.broken) instances[name] = { ...instance, broken: null };
    }
    return { ...now, instances, stopped: rest };
  });
}
