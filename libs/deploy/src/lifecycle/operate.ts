/** Starting, stopping and restarting what is active of an app, as its `.deploy.yml` says. */
import { openSecrets } from '@runner/common/app-secrets/open';
import type { Deployed } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { newDeployId } from '@runner/common/audit/events';
import type { Server } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import { askNow } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import { startsBeside } from '../instances/place.ts';
import { secretsAnyway, stopAllOf } from '../instances/stop.ts';
import { switchBack } from '../instances/switch-back.ts';
import {
  keptTarget,
  type ReleaseTarget,
  type TargetBase,
  uninterrupted,
} from '../instances/target.ts';
import { unreadSecretsOf } from '../instances/unit-check.ts';
import { secretsStarted } from '../journal/mark.ts';
import { lockApp } from '../journal/lock.ts';
import type { Operation } from '../journal/operation.ts';
import { recover } from '../operation/recover.ts';
import { type Reporter, redacting, reported } from '../report/reporter.ts';
import { type DeployLog, openDeployLog } from '../run/log.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { openSandboxAnyway } from '../sandbox/sandbox.ts';
import { announceOver } from '../watch/over.ts';
import { chosenInstances } from './chosen.ts';
import { type LifeInstance, recordDone, rememberAhead, type Verb } from './record.ts';

/** What the command line asks for. */
export interface LifeRequest extends Server {
  readonly app: string;
  /** Only this instance; undefined: all. */
  readonly instance: string | undefined;
  readonly reason?: string | undefined;
  /** How long to wait for the lock, in milliseconds. */
  readonly wait?: number | undefined;
  readonly reporter: Reporter;
}

/** What `start`, `stop` and `restart` print. */
export interface LifeOutcome {
  app: string;
  result: LifeInstance['result'];
  instances: LifeInstance[];
  duration_ms: number;
}

/** The past tense of each verb. */
export const DONE = { start: 'started', stop: 'stopped', restart: 'restarted' } as const;

/** Throws `app_not_found`, `instance_not_found`, `version_not_found`, `locked`. */
export async function operate(request: LifeRequest, verb: Verb): Promise<LifeOutcome> {
  const { io, paths } = request;
  const began = io.elapsed();
  const deployId = newDeployId(io.random);
  const note = (text: string) => request.reporter.note(text);
  const lock = await lockApp({ ...request, note }, verb, 'manual', deployId);
  try {
    const redact = await redactorForAny({ paths, env: io.env }, request.app);
    const reporter = redacting(request.reporter, redact);
    const known = requireApp(paths, request.app);
    // A lost key must not keep an app running; what a killed deploy left is started with them.
    const canDoWithout = verb === 'stop' && !known.deploying;
    const secrets = canDoWithout
      ? secretsAnyway(io, paths, request.app)
      : openSecrets(paths, io.env, request.app);
    const app = await recover({ io, paths, reporter, redact, secrets, app: known });
    const chosen = chosenInstances(app, request.instance);
    const log: DeployLog = openDeployLog(paths, app.app, deployId, redact, reporter.output);
    try {
      const sandbox = openSandboxAnyway({ paths, env: io.env, app: app.app, note: log.line });
      const operation = { io, paths, app, reporter, redact, secrets, sandbox };
      const base = uninterrupted(
        { ...operation, deployId, log },
        verb === 'stop' ? 'started' : 'today',
      );
      const instances = await eachInstance(operation, { ...request, verb }, base, chosen);
      recordDone(operation, verb, instances, request.reason);
      if (verb !== 'stop') for (const { words } of unreadSecretsOf(request, app)) note(words);
      const result = overall(instances, verb);
      return { app: app.app, result, instances, duration_ms: Math.round(io.elapsed() - began) };
    } finally {
      log.close();
    }
  } finally {
    lock.release();
    await announceOver({ ...request, notify: true }, verb);
  }
}

type Wanted = Pick<LifeRequest, 'reason'> & { readonly verb: Verb };

interface Chosen {
  readonly name: string;
  readonly current: Deployed;
  /** undefined: its `.deploy.yml` cannot be read. */
  readonly target: ReleaseTarget | undefined;
}

async function eachInstance(
  operation: Operation,
  wanted: Wanted,
  base: TargetBase,
  chosen: readonly [string, Deployed][],
): Promise<LifeInstance[]> {
  const done: LifeInstance[] = [];
  for (const [instance, current] of chosen) {
    const { version } = current;
    try {
      const target = keptTarget(base, instance, current);
      const result = await one(operation, wanted, base, { name: instance, current, target });
      done.push({ instance, version, result });
    } catch (error) {
      const failure = asStepFailure(error, 'start');
      const text = [failure.message, failure.output.trimEnd()].filter(Boolean).join('\n');
      done.push({ instance, version, result: 'failed', error: operation.redact(text) });
    }
  }
  const started = done.filter(({ result }) => result === 'started' || result === 'restarted');
  if (started.length > 0)
    secretsStarted(
      operation,
      started.map(({ instance }) => instance),
    );
  return done;
}

/** Whether an instance is as it is to be. A new reason is recorded. */
function isDone(target: ReleaseTarget, { verb, reason }: Wanted, wasStopped: boolean): boolean {
  const status = () => askNow(driverFor(target.start).status(target));
  if (verb === 'start') return status() === 'running';
  return verb === 'stop' && wasStopped && reason === undefined && status() === 'stopped';
}

async function one(
  operation: Operation,
  wanted: Wanted,
  base: TargetBase,
  { name, current, target }: Chosen,
): Promise<LifeInstance['result']> {
  const { reporter, app } = operation;
  const { verb, reason } = wanted;
  if (!target)
    throw new StepFailure(
      'start',
      `${current.version} of ${name} has no readable .deploy.yml: run runner deploy ${app.app}`,
      'server',
    );
  if (target.start.type === 'none')
    throw new StepFailure(
      'start',
      `start.type of ${name} is none: there is nothing to ${verb}`,
      'operator',
    );
  if (isDone(target, wanted, app.stopped?.instances.includes(name) ?? false)) return 'unchanged';
  if (verb === 'stop' && target.start.type === 'command' && target.stop === undefined)
    throw new StepFailure('start', `the .deploy.yml of ${name} has no stop command`, 'operator');
  const takeBack = rememberAhead(operation, verb, name, reason);
  try {
    await reported(reporter, `${verb} ${name}`, async () => {
      if (verb === 'stop') return stopAllOf(base, name, target);
      const isAnew = verb === 'start' || (await endsFirst(target));
      return switchBack(base, name, isAnew ? undefined : target, current);
    });
  } catch (error) {
    takeBack();
    throw error;
  }
  return DONE[verb];
}

/** `docker compose up` alone keeps containers that have not changed: they are stopped first. */
async function endsFirst(target: ReleaseTarget): Promise<boolean> {
  const isKept = target.start.type === 'compose' && !startsBeside(target.instance);
  if (isKept) await driverFor(target.start).stop(target);
  return isKept;
}

function overall(instances: readonly LifeInstance[], verb: Verb): LifeInstance['result'] {
  if (instances.some(({ result }) => result === 'failed')) return 'failed';
  return instances.every(({ result }) => result === 'unchanged') ? 'unchanged' : DONE[verb];
}
