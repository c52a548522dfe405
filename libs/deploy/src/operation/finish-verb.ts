/** A start, stop or restart whose process died is finished: it says what an operator wants. */
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { startsBeside } from '../instances/place.ts';
import { instanceState, isServed } from '../instances/slots.ts';
import { activationOf } from '../instances/steps.ts';
import { stopAllOf } from '../instances/stop.ts';
import { besideItself, keptTarget, releaseOf } from '../instances/target.ts';
import type { Journal, Operation } from '../journal/operation.ts';
import { runOrThrow } from '../journal/step.ts';
import { reported } from '../report/reporter.ts';
import { endDeploy } from '../run/processes.ts';
import { failureOf } from '../run/step.ts';
import { stopUnused } from './undo.ts';
import { concludeVerb, DONE, type LifecycleVerb, type LifeInstance } from './verbs.ts';

/** `op` is that of the dead process. Returns the app as it is now. */
export async function finishVerb(
  op: Operation,
  verb: LifecycleVerb,
  journal: Journal,
): Promise<AppState> {
  const { instance: names, stage } = journal;
  const { app, paths, reporter } = op;
  reporter.note(`${verb} ${op.deployId} was interrupted during ${stage}: finishing it`);
  const own: Operation = verb === 'stop' ? op : { ...op, values: 'today' };
  const done: LifeInstance[] = [];
  for (const instance of names.split(',')) {
    const current = app.instances[instance]?.current;
    const target = current && keptTarget(own, instance, current);
    if (!target) continue;
    // A command of the app that is still at work must not meet the next one.
    if (target.start.type === 'command')
      endDeploy(paths.app(app.app).dir, op.deployId, (release) => release === releaseOf(target));
    const finish = () =>
      verb === 'stop' ? stopAllOf(own, instance, target) : keepRunning(own, target, journal);
    const failure = await failureOf('start', () =>
      reported(reporter, `${verb} ${instance}`, finish),
    );
    if (failure) reporter.note(failure.message);
    done.push({ instance, version: current.version, result: failure ? 'failed' : DONE[verb] });
  }
  concludeVerb(op, verb, done, app.stopped?.reason ?? undefined);
  return requireApp(paths, app.app);
}

/** Leaves alone what runs, and gets the requests; of a restart only what it has started. */
async function keepRunning(op: Operation, target: Target, journal: Journal): Promise<void> {
  const { instance, start } = target;
  await stopUnused(op, instance.name);
  const isRestart = journal.verb === 'restart';
  const isDone = isServed(op, target) && (!isRestart || hasStarted(op, target, journal));
  if (isDone && askNow(driverFor(start).status(target)) === 'running') return;
  const next = isRestart ? besideItself(op, target) : target;
  try {
    await runOrThrow(op, activationOf(op, next, { isFresh: true }));
  } finally {
    await stopUnused(op, instance.name);
  }
}

/** Whether a restart had started it: its slot says so, or how far the journal is. */
function hasStarted(
  op: Operation,
  { instance: own, slot }: Target,
  { instance, touched = [], stage }: Journal,
): boolean {
  const { name } = own;
  if (slot !== undefined && startsBeside(own))
    return instanceState(op, name).slots?.[slot]?.deploy_id === op.deployId;
  const names = instance.split(',');
  const [at, place] = [names.indexOf(touched[0] ?? ''), names.indexOf(name)];
  return place < at || (place === at && (stage === 'health' || stage === 'traffic'));
}
