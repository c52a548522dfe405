/** Starting, stopping and restarting what is active of an app, as its `.deploy.yml` says. */

import type { Deployed } from '@runner/common/apps/deployed';
import { asleepSince } from '@runner/common/apps/slots';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { admit, begin, orGiveBack } from '../approval/admit.ts';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { instancePaths, isServed } from '../instances/slots.ts';
import { activationOf } from '../instances/steps.ts';
import { stopAllOf } from '../instances/stop.ts';
import { besideItself, keptTarget } from '../instances/target.ts';
import { unreadSecretsOf } from '../instances/unit-check.ts';
import { beginAnyway } from '../journal/journal.ts';
import { type Operation, uninterrupted } from '../journal/operation.ts';
import { secretsAnyway, secretsOf } from '../journal/secrets.ts';
import type { Step } from '../journal/step.ts';
import { execute } from '../operation/execute.ts';
import { type OperationRequest, operate } from '../operation/operate.ts';
import {
  concludeVerb,
  DONE,
  type LifecycleVerb,
  type LifeInstance,
  rememberAhead,
} from '../operation/verbs.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { chosenInstances } from './chosen.ts';

/** What the command line asks for. */
export interface LifeRequest extends Omit<OperationRequest, 'trigger' | 'notify'> {
  /** What does not sleep stays as it is: an operator may have stopped it meanwhile. */
  readonly onlyAsleep?: boolean;
  /** Only this instance; undefined: all. */
  readonly instance: string | undefined;
  readonly reason?: string | undefined;
  /** It ran before a reboot: that needs no approval. */
  readonly isBoot?: boolean;
  /** Default: `manual`. */
  readonly trigger?: string;
}

/** What `start`, `stop` and `restart` print. */
export interface LifeOutcome {
  app: string;
  result: LifeInstance['result'];
  instances: LifeInstance[];
  duration_ms: number;
}

/** Throws `app_not_found`, `instance_not_found`, `version_not_found`, `locked`. */
export async function changeRunning(
  request: LifeRequest,
  verb: LifecycleVerb,
): Promise<LifeOutcome> {
  const { io, reason } = request;
  const began = io.elapsed();
  const open = (app: Operation['app']) => {
    // What a killed deploy left is started with them.
    const isStopOnly = verb === 'stop' && !app.deploying;
    return isStopOnly ? secretsAnyway(request, app) : secretsOf(request, app);
  };
  const own = { trigger: 'manual', ...request, notify: true };
  return operate<LifeOutcome>(own, verb, { open, lost: lostAfterAll }, async (op) => {
    const { app, reporter } = op;
    const plan =
      request.isBoot && io.env.RUNNER_GRANT === undefined
        ? undefined
        : admit(op, app, { ...request, verb });
    const chosen = chosenInstances(app, request.instance);
    begin(op, plan, request);
    const [[, { commit, version }]] = chosen as [[string, Deployed]];
    const instance = chosen.map(([name]) => name).join(',');
    const stage = verb === 'stop' ? 'switch' : 'start';
    orGiveBack(op, () => beginAnyway(op, { verb, commit, version, instance, stage }));
    const instances: LifeInstance[] = [];
    for (const each of chosen) {
      const [name, { version: runs }] = each;
      const isLeft = request.onlyAsleep && !asleepSince(instancePaths(op, name));
      const left = { instance: name, version: runs, result: 'unchanged' as const };
      instances.push(isLeft ? left : await one(op, verb, each, reason));
    }
    concludeVerb(op, verb, instances, reason);
    if (verb !== 'stop')
      for (const { words } of unreadSecretsOf(request, app)) reporter.note(words);
    const result = overall(instances, verb);
    const duration_ms = Math.round(io.elapsed() - began);
    return { app: app.app, result, instances, duration_ms };
  });
}

/** What died while the process before it drained: that one serves again. */
function lostAfterAll(outcome: LifeOutcome, lost: Operation['lost']): LifeOutcome {
  const instances = outcome.instances.map((each) => {
    const error = lost.get(each.instance)?.message;
    return error === undefined ? each : { ...each, result: 'failed' as const, error };
  });
  return { ...outcome, result: 'failed', instances };
}

async function one(
  op: Operation,
  verb: LifecycleVerb,
  [instance, current]: [string, Deployed],
  reason: string | undefined,
): Promise<LifeInstance> {
  const { version } = current;
  // What stops it gets what it was started with.
  const found = keptTarget(verb === 'stop' ? uninterrupted(op) : op, instance, current);
  try {
    const target = usable(op, verb, found ?? `${version} of ${instance}`);
    const wasStopped = op.app.stopped?.instances.includes(instance) ?? false;
    if (isDone(op, target, { verb, reason, wasStopped }))
      return { instance, version, result: 'unchanged' };
    const takeBack = rememberAhead(op, verb, instance, reason);
    forgetOthers(op, instance);
    const failed = await execute(op, stepsOf(op, verb, target));
    if (!failed) return { instance, version, result: DONE[verb] };
    takeBack();
    throw failed.error;
  } catch (error) {
    const failure = asStepFailure(error, 'start');
    const text = [failure.message, failure.output.trimEnd()].filter(Boolean).join('\n');
    return { instance, version, result: 'failed', error: op.redact(text) };
  }
}

/** What fails is undone; the instances before it are as they are to be. */
function forgetOthers(op: Operation, instance: string): void {
  if (!op.journal) return;
  const { failed: _, ...rest } = op.journal;
  op.journal = { ...rest, touched: [instance] };
}

/** Throws a StepFailure if there is nothing that could be done with it. */
function usable({ app }: Operation, verb: LifecycleVerb, target: Target | string): Target {
  if (typeof target === 'string') {
    const words = `${target} has no readable .deploy.yml: run runner deploy ${app.app}`;
    throw new StepFailure('start', words, { blame: 'server' });
  }
  const words = refusedFor(verb, target.instance.name, target.file);
  if (words !== undefined) throw new StepFailure('start', words, { blame: 'operator' });
  return target;
}

/** Why there is nothing that could be done with an instance; undefined: there is. */
export function refusedFor(
  verb: LifecycleVerb,
  name: string,
  { start, stop, jobs }: DeployFile,
): string | undefined {
  // Its jobs rest, and come back.
  const hasRest = verb !== 'restart' && jobs.length > 0;
  if (start.type === 'none' && !hasRest)
    return `start.type of ${name} is none: there is nothing to ${verb}`;
  if (verb === 'stop' && start.type === 'command' && stop === undefined)
    return `the .deploy.yml of ${name} has no stop command`;
  return undefined;
}

/** Whether an instance is as it is to be. A new reason is recorded. */
function isDone(op: Operation, target: Target, { verb, reason, wasStopped }: Wanted): boolean {
  const { start } = target;
  const known = wasStopped ? 'stopped' : 'running';
  const status = () => (start.type === 'none' ? known : askNow(driverFor(start).status(target)));
  if (verb === 'start') return isServed(op, target) && status() === 'running';
  return verb === 'stop' && wasStopped && reason === undefined && status() === 'stopped';
}

interface Wanted {
  readonly verb: LifecycleVerb;
  readonly reason: string | undefined;
  readonly wasStopped: boolean;
}

/** A restart is a deploy of the same release: in the other slot, where there are two. */
function stepsOf(op: Operation, verb: LifecycleVerb, target: Target): Step[] {
  const { name } = target.instance;
  const title = `${verb} ${name}`;
  if (verb === 'stop') {
    const run = () => stopAllOf(uninterrupted(op), name, target);
    return [{ stage: 'switch', title, instance: name, isTouched: true, run }];
  }
  const own = verb === 'restart' ? besideItself(op, target) : target;
  return activationOf(op, own, { title: () => title, isFresh: true });
}

function overall(instances: readonly LifeInstance[], verb: LifecycleVerb): LifeInstance['result'] {
  if (instances.some(({ result }) => result === 'failed')) return 'failed';
  return instances.every(({ result }) => result === 'unchanged') ? 'unchanged' : DONE[verb];
}
