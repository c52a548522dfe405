/** One attempt of a job: its command in the release that is active when it begins. */

import type { Deployed } from '@runner/common/apps/deployed';
import type { JobEntry } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { JobRules } from '@runner/common/deploy-file/jobs';
import { removeTree } from '@runner/common/files/tree-change';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure, signalStatus } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import type { Announcing } from '../alerts/announce.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { withNetwork } from '../instances/network.ts';
import { keptTarget } from '../instances/target.ts';
import { causeOf } from '../journal/cause.ts';
import { contextOf, type Operation } from '../journal/operation.ts';
import { type OpenedSecrets, secretsOr } from '../journal/secrets.ts';
import type { Reporter } from '../report/reporter.ts';
import { JOB_RUN } from '../run/processes.ts';
import { asStepFailure, runStep, shellStep } from '../run/step.ts';

/** What runs a job. */
export interface JobRequest extends Announcing {
  readonly app: string;
  readonly job: string;
  readonly signal: AbortSignal;
  /** The secrets that were read last: the key may go with the service that had it. */
  readonly opened?: { secrets?: OpenedSecrets };
  readonly reporter: Reporter;
}

/** Where the log of a run goes: a deploy log in a folder of its own. */
export function jobPaths(paths: Paths, job: string): Paths {
  const deployLogs = (app: string) => paths.jobLogs(app, job);
  return { ...paths, deployLogs, deployLog: (app, id) => `${deployLogs(app)}/${id}.log` };
}

/** How an attempt ended; without a reason it succeeded. */
export interface JobAttempt {
  readonly version: string | null;
  readonly status: number | null;
  readonly reason?: string;
  /** With the end of its output. */
  readonly error?: string;
  readonly cause?: string;
  readonly isInterrupted?: boolean;
  readonly isGone?: boolean;
}

/** Runs the command of a job once; its output goes to the log of the run. `noted` gets its version. Never throws. */
export async function attemptJob(
  request: JobRequest,
  entry: JobEntry,
  id: string,
  noted: (version: string) => void,
): Promise<JobAttempt> {
  let op: Operation | undefined;
  let version: string | null = null;
  try {
    const { io, reporter, signal, job } = request;
    const paths = jobPaths(request.paths, job);
    const app = requireApp(paths, request.app);
    const context = { io, paths, reporter, signal, deployId: id, trigger: 'job', isStrict: true };
    const { opened = {} } = request;
    opened.secrets = await secretsOr(request, app, opened.secrets);
    op = contextOf(context, app, opened.secrets);
    const [target, { deploy_id }] = enterRelease(op, app, entry);
    version = target.version;
    noted(version);
    const own = target.file.jobs.find(({ name }) => name === job);
    if (!own) return { version, status: null, reason: `${version} has no such job`, isGone: true };
    const step = stepOf(target, own, entry.run, deploy_id);
    const list = { key: `jobs.${job}.network`, own: own.network, env: step.env };
    const { log } = op;
    await withNetwork(op, target, list, (network) =>
      runStep(log, signal, { ...step, confinement: target.confine('hook', network) }),
    );
    return { version, status: 0 };
  } catch (error) {
    const failure = asStepFailure(error, 'hook');
    const { message, output, blame, ended, seen } = failure;
    const cause = op ? causeOf(op, failure) : '';
    const reason = message.replace(/^hook: /, '').replace(`job ${entry.rules.name}: `, '');
    const isInterrupted = ended?.exit.interrupted ?? blame === 'operator';
    const text = [reason, output.trimEnd()].filter(Boolean).join('\n');
    const { code, signal } = ended?.exit ?? { code: null, signal: null };
    const status = code ?? (signal ? signalStatus(signal) : null);
    const redact = op?.redact ?? ((plain: string) => plain);
    return {
      version,
      status,
      reason: redact([reason, ...(seen === undefined ? [] : [seen])].join('; ')),
      error: redact(text),
      isInterrupted,
      ...(cause !== '' && { cause }),
    };
  } finally {
    op?.sandbox.close(removeTree);
    op?.log.close();
  }
}

/** Deploys in a row while which a job does not begin. */
const TRIES = 10;

/**
 * The target of a job. This process stands in its release from here on, which nothing removes then: it was
 * still active when the process stood there.
 */
function enterRelease(op: Operation, first: AppState, entry: JobEntry): [Target, Deployed] {
  let app = first;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const current = app.instances[entry.instance]?.current;
    const target = current && keptTarget({ ...op, app }, entry.instance, current);
    if (!target) break;
    const isThere = orElse(() => process.chdir(target.release) === undefined, false);
    app = requireApp(op.paths, app.app);
    if (isThere && app.instances[entry.instance]?.current?.release === current.release)
      return [target, current];
  }
  const what = `${entry.instance} has no release to run it in`;
  throw new Failure('version_not_found', `job ${entry.rules.name}: ${what}`);
}

function stepOf(
  { release: cwd, env }: Target,
  own: JobRules,
  run: JobEntry['run'],
  deployId: string,
) {
  const about = {
    RUNNER_DEPLOY_ID: deployId,
    RUNNER_JOB: own.name,
    [JOB_RUN]: run?.id ?? '',
    ...(run?.due && { RUNNER_JOB_DUE: run.due }),
    ...(run?.token !== undefined && { RUNNER_JOB_TOKEN: String(run.token) }),
  };
  return shellStep({
    stage: 'hook',
    label: `job ${own.name}`,
    command: own.run,
    cwd,
    env: { ...env, ...about },
    timeout: own.timeout,
  });
}
