/** How a deploy ends: its last events, the app's state, and what the command prints. */
import type { AppState, Deployed } from '@runner/common/apps/state';
import type { DeployFile } from '@runner/common/deploy-file/read';
import type { WayBack } from '../instances/activate.ts';
import { previousOfAll } from '../instances/job-target.ts';
import { succeededState } from '../record/after-success.ts';
import { withAftermath } from '../record/broken-instances.ts';
import { countFailure, lastFailure } from '../record/failures.ts';
import { writeEnd } from '../record/in-progress.ts';
import { eventOf, type Job, recordAnyway } from '../record/job.ts';
import type { StepFailure } from '../run/step.ts';

/** The last object of `runner deploy --json`. */
export interface Outcome {
  app: string;
  result: 'deployed' | 'failed' | 'rolled_back';
  version: string;
  commit: string;
  deploy_id: string;
  instance: string;
  previous_version: string | null;
  /** What is active now; null when nothing is. */
  active_version: string | null;
  duration_ms: number;
  /** Path of the deploy's log. */
  log: string;
  stage?: string;
  error?: string;
  /** The lines of the failed step's output that say why. */
  cause?: string;
  /** Why the rollback failed as well; the exit status is 3 then. */
  rollback_error?: string;
  /** The operator ended it. */
  interrupted?: boolean;
}

function duration(job: Job): number {
  return Math.round(job.io.elapsed() - job.began);
}

/** Records a success: the event first, since from it a state that was not written can be mended. */
export function concludeSuccess(job: Job, file: DeployFile, release: string): Outcome {
  const names = file.instances.map((instance) => instance.name);
  const previous = previousOfAll(job.app, names)?.version;
  const domains = file.instances.flatMap((instance) => (instance.domain ? [instance.domain] : []));
  const took = duration(job);
  const event = eventOf(job, 'DeploySuccess', {
    instance: names.join(','),
    duration_ms: took,
    ...(previous !== undefined && { previous_version: previous }),
    ...(domains.length > 0 && { domain: domains.join(',') }),
  });
  recordAnyway(job, event);
  const deployed: Deployed = {
    version: job.version,
    commit: job.commit,
    release,
    deployed_at: event.timestamp,
    deploy_id: job.deployId,
  };
  writeEnd(job, (app) => succeededState(app, names, deployed, file.keep, job.passedOver));
  job.notifier.tell(event);
  return {
    app: job.app.app,
    result: 'deployed',
    version: job.version,
    commit: job.commit,
    deploy_id: job.deployId,
    instance: names.join(','),
    previous_version: previous ?? null,
    active_version: job.version,
    duration_ms: took,
    log: job.log.path,
  };
}

/** Where and why a deploy failed, and what was done about it. */
export interface FailedDeploy {
  readonly error: StepFailure;
  readonly instance: string;
  /** What was done about the instances that had been switched. */
  readonly ways: readonly WayBack[];
  readonly file: DeployFile | undefined;
  /** The lines of the step's output that say why; empty when it printed none. */
  readonly cause: string;
}

/** Records a failure, and each instance that went back; the same deploy_id in all. */
export function concludeFailure(
  job: Job,
  { error, instance, ways, file, cause }: FailedDeploy,
): Outcome {
  const first = instance.split(',')[0] as string;
  const previous = previousOfAll(job.app, instance.split(','))?.version;
  const broken = ways.filter((way) => way.error !== undefined);
  const troubles = broken.map(
    (way) => `rollback to ${way.to?.version ?? 'nothing'} failed: ${way.error}`,
  );
  const aftermath = ways.map(({ instance: { name }, error: problem }) => ({
    instance: name,
    problem: problem && job.redact(problem),
  }));
  const text = [job.redact(error.message), ...troubles, error.output.trimEnd()]
    .filter((part) => part !== '')
    .join('\n');
  const took = duration(job);
  const domain = file?.instances.find((each) => each.name === first)?.domain;
  const event = eventOf(job, 'DeployFailure', {
    instance,
    stage: error.stage,
    error: text,
    ...(cause !== '' && { cause }),
    duration_ms: took,
    log: job.log.path,
    // Absent when no instance had been switched: the version before stayed active.
    ...(broken.length > 0
      ? { rolled_back: false, reason: troubles.join('; ') }
      : ways.some((way) => way.to !== null) && { rolled_back: true }),
    ...(previous !== undefined && { previous_version: previous }),
    ...(domain !== undefined && { domain }),
  });
  recordAnyway(job, event);
  job.notifier.tell(event);
  const back = ways.filter((way) => way.error === undefined && way.to !== null);
  for (const way of back) {
    const rolledBack = eventOf(job, 'RollbackSuccess', {
      instance: way.instance.name,
      version: way.to?.version ?? '',
      from_version: job.version,
      reason: job.redact(error.message),
      ...(way.to && { commit: way.to.commit }),
    });
    recordAnyway(job, rolledBack);
    job.notifier.tell(rolledBack);
  }
  writeEnd(job, (app) => ({
    ...app,
    instances: withAftermath(withoutFirst(app, ways), aftermath, job.io.now()),
    failures:
      error.blame === 'commit'
        ? countFailure(app, job.commit, error.stage, job.io.now())
        : app.failures,
    last_failure: lastFailure(job, error.stage, text, job.io.now()),
    deploying: null,
  }));
  return {
    app: job.app.app,
    result: back.length > 0 && broken.length === 0 ? 'rolled_back' : 'failed',
    version: job.version,
    commit: job.commit,
    deploy_id: job.deployId,
    instance,
    previous_version: previous ?? null,
    active_version: broken.length > 0 ? null : (previous ?? null),
    duration_ms: took,
    log: job.log.path,
    stage: error.stage,
    error: text,
    ...(cause !== '' && { cause }),
    ...(troubles.length > 0 && { rollback_error: troubles.join('; ') }),
    ...(error.blame === 'operator' && { interrupted: true }),
  };
}

/** An instance that was switched off has its place in the state, with nothing that runs. */
function withoutFirst(app: AppState, ways: readonly WayBack[]): AppState['instances'] {
  const instances = { ...app.instances };
  for (const way of ways) {
    if (way.to === null) instances[way.instance.name] ??= { current: null, previous: [] };
  }
  return instances;
}
