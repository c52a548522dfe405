/** What is recorded of a start, stop or restart: in the audit log, and in the state of the app. */
import { changeApp } from '@runner/common/apps/change';
import { withoutStopped } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { completeEvent } from '@runner/common/audit/complete';
import type { DeployEvent, OperatorEvent } from '@runner/common/audit/events';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { cleanRecord } from '@runner/common/redaction/record';
import { end } from '../approval/admit.ts';
import { instanceState } from '../instances/slots.ts';
import { secretsStarting } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';
import { conclude } from './conclude.ts';

/** What to do. */
export type LifecycleVerb = 'start' | 'stop' | 'restart';

/** What became of one instance. */
export interface LifeInstance {
  instance: string;
  version: string;
  /** `unchanged`: it ran already, or was stopped already. */
  result: 'started' | 'stopped' | 'restarted' | 'unchanged' | 'failed';
  error?: string;
}

/** The past tense of each verb. */
export const DONE = { start: 'started', stop: 'stopped', restart: 'restarted' } as const;

const KINDS: Readonly<Record<LifecycleVerb, OperatorEvent>> = {
  start: 'AppStarted',
  stop: 'AppStopped',
  restart: 'AppRestarted',
};

/**
 * Records what was done with each instance, and ends its plan; an unchanged instance has no event. The record of a restart
 * waits while the process before it drains: if the new one dies meanwhile, it was none.
 */
export function concludeVerb(
  op: Operation,
  verb: LifecycleVerb,
  instances: readonly LifeInstance[],
  reason: string | undefined,
): void {
  const { io, app, redact, user, approval } = op;
  const timestamp = io.now().toISOString();
  const isNew = ({ result }: LifeInstance) => result !== 'failed' && result !== 'unchanged';
  const done = instances.filter(isNew);
  const names = done.map(({ instance }) => instance);
  const waits = (name: string) => verb === 'restart' && instanceState(op, name).draining != null;
  const events = done.map(({ instance, version }) => {
    const event = {
      timestamp,
      event_type: KINDS[verb],
      project: app.app,
      instance,
      version,
      deploy_id: null,
      user,
      instances: waits(instance) ? [instance] : names,
      ...(reason !== undefined && { reason }),
      ...approval,
    };
    return cleanRecord(completeEvent(event, io), redact);
  });
  const isLeft = ({ result }: LifeInstance) =>
    result === 'failed' || (result === 'unchanged' && verb === 'stop');
  const good = instances.filter((each) => !isLeft(each)).map(({ instance }) => instance);
  const hasStarted = verb !== 'stop' && names.length > 0;
  if (hasStarted) secretsStarting(op, names);
  const how = { since: timestamp, by: user, reason: reason ?? null };
  const waiting = events.filter(({ instance }) => waits(instance));
  const state = (now: AppState) => ({
    ...withWaiting(remembered(now, verb, good, how), waiting),
    deploying: null,
  });
  // What a killed command is finished by must not fail for it.
  const mustSave = good.length > 0 && op.trigger !== 'recovery';
  const written = events.filter((event) => !waiting.includes(event));
  conclude(op, { events: written, hasStarted, state, mustSave });
  const isDone = instances.length > 0 && instances.every(({ result }) => result !== 'failed');
  end(op, isDone, isDone ? `${app.app} was ${DONE[verb]}` : `the ${verb} failed`);
}

function withWaiting(now: AppState, waiting: readonly DeployEvent[]): AppState {
  const instances = { ...now.instances };
  for (const restart of waiting) {
    const instance = instances[restart.instance];
    if (!instance?.draining) continue;
    instances[restart.instance] = { ...instance, draining: { ...instance.draining, restart } };
  }
  return { ...now, instances };
}

/**
 * Remembers it before it is done, so that what a kill leaves is as the operator wants it. Returns what
 * takes that back after a failure. A full disk does not keep an app running.
 */
export function rememberAhead(
  { io, paths, app: { app }, user: by }: Operation,
  verb: LifecycleVerb,
  name: string,
  reason: string | undefined,
): () => void {
  const { stopped = null } = requireApp(paths, app);
  const wasStopped = stopped?.instances.includes(name) ?? false;
  if (wasStopped === (verb === 'stop')) return () => {};
  const how = { since: io.now().toISOString(), by, reason: reason ?? null };
  const anyway = (change: (now: AppState) => AppState) =>
    unlessFailure(() => void changeApp({ io, paths, command: verb, app }, change), undefined);
  anyway((now) => remembered(now, verb, [name], how));
  return () => anyway((now) => ({ ...now, stopped }));
}

/** The state is what `fetch`, doctor and the next boot go by. */
function remembered(
  now: AppState,
  verb: LifecycleVerb,
  names: readonly string[],
  how: { since: string; by: string; reason: string | null },
): AppState {
  if (names.length === 0) return now;
  const rest = withoutStopped(now, names);
  if (verb === 'stop') {
    const instances = [...(rest?.instances ?? []), ...names];
    // One reason for all: that of the others stays if there is no newer one.
    const kept = now.stopped?.reason ?? null;
    const isKnown = names.every((name) => now.stopped?.instances.includes(name));
    if (isKnown && (how.reason ?? kept) === kept) return now;
    return { ...now, stopped: { ...how, reason: how.reason ?? kept, instances } };
  }
  const instances = { ...now.instances };
  for (const name of names) {
    const instance = instances[name];
    if (instance?.broken) instances[name] = { ...instance, broken: null };
  }
  return { ...now, instances, stopped: rest };
}
