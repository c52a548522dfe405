/** How a deploy ends: its last events, the state of the app, and what the command prints. */
import type { Deployed } from '@runner/common/apps/state';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { previousOfAll } from '../instances/target.ts';
import { failedState, willBlock } from '../record/after-failure.ts';
import { succeededState } from '../record/after-success.ts';
import { announce, eventOf, recordAnyway, rolledBackEvent } from '../record/events.ts';
import { writeEnd } from '../record/in-progress.ts';
import { type Job, type Move, problemsOf } from '../record/operation.ts';
import type { StepFailure } from '../run/step.ts';

/** The last object of `runner deploy --json`. */
export interface DeployOutcome {
  app: string;
  result: 'deployed' | 'failed' | 'rolled_back';
  version: string;
  commit: string;
  deploy_id: string;
  instance: string;
  previous_version: string | null;
  /** What is active now; null if nothing is. */
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

/** Where and why a deploy failed, and what became of the instances that had been switched. */
export interface FailedDeploy {
  readonly error: StepFailure;
  readonly instance: string;
  readonly moves: readonly Move[];
  /** undefined: `.deploy.yml` itself is wrong. */
  readonly file: DeployFile | undefined;
  /** The lines of the step's output that say why; empty if it printed nothing. */
  readonly cause: string;
}

/** Records a success: the event first, from which a state that could not be written is corrected. */
export function concludeSuccess(job: Job, file: DeployFile, release: string): DeployOutcome {
  const { version, commit, deployId: deploy_id } = job;
  const names = file.instances.map((instance) => instance.name);
  const domains = file.instances.flatMap((instance) => (instance.domain ? [instance.domain] : []));
  const event = eventOf(job, 'DeploySuccess', {
    ...commonFields(job, names.join(',')),
    ...(domains.length > 0 && { domain: domains.join(',') }),
  });
  recordAnyway(job, event);
  const deployed: Deployed = { version, commit, release, deployed_at: event.timestamp, deploy_id };
  writeEnd(job, (app) => succeededState(app, names, deployed, file.keep, job.skippedHead));
  job.notifier.send(event);
  return outcomeOf(job, event, { result: 'deployed', active_version: version });
}

/** Records a failure, and each instance that was rolled back. */
export function concludeFailure(job: Job, failed: FailedDeploy): DeployOutcome {
  const { error, instance, moves, cause } = failed;
  const problems = problemsOf(moves, 'rollback');
  const parts = [error.message, ...problems, error.output.trimEnd()];
  const text = job.redact(parts.filter((part) => part !== '').join('\n'));
  const event = failureEvent(job, failed, problems, text);
  announce(job, event);
  const isRolledBack = announceRollbacks(job, failed);
  writeEnd(job, (app) => {
    const { stage, blame } = error;
    return failedState(app, { ...job, stage, error: text, blame, at: job.io.now() }, moves);
  });
  const previous = previousOfAll(job.app, instance.split(','))?.version ?? null;
  return {
    ...outcomeOf(job, event, {
      result: isRolledBack && problems.length === 0 ? 'rolled_back' : 'failed',
      active_version: problems.length > 0 ? null : previous,
    }),
    stage: error.stage,
    error: text,
    ...(cause !== '' && { cause }),
    ...(problems.length > 0 && { rollback_error: problems.join('; ') }),
    ...(error.blame === 'operator' && { interrupted: true }),
  };
}

function failureEvent(
  job: Job,
  { error: { stage, blame }, instance, file, cause, moves }: FailedDeploy,
  problems: readonly string[],
  error: string,
) {
  const [first] = instance.split(',');
  const domain = file?.instances.find((each) => each.name === first)?.domain;
  return eventOf(job, 'DeployFailure', {
    ...commonFields(job, instance),
    ...{ stage, error, log: job.log.path },
    ...(cause !== '' && { cause }),
    ...(willBlock(job, blame) && { blocked: true }),
    // Absent when nothing had been switched: the previous version never stopped.
    ...(problems.length > 0
      ? { rolled_back: false, reason: problems.join('; ') }
      : moves.some(({ to }) => to) && { rolled_back: true }),
    ...(domain !== undefined && { domain }),
  });
}

/** Returns whether an instance was rolled back to an earlier version. */
function announceRollbacks(job: Job, { error, moves }: FailedDeploy): boolean {
  let isRolledBack = false;
  for (const move of moves) {
    const { to, problem } = move;
    if (!to || problem !== undefined) continue;
    announce(job, rolledBackEvent(job, { ...move, to }, job.redact(error.message)));
    isRolledBack = true;
  }
  return isRolledBack;
}

function commonFields(job: Job, instance: string) {
  const previous = previousOfAll(job.app, instance.split(','))?.version;
  return {
    instance,
    duration_ms: Math.round(job.io.elapsed() - job.began),
    ...(previous !== undefined && { previous_version: previous }),
  };
}

function outcomeOf(
  job: Job,
  event: ReturnType<typeof eventOf>,
  { result, active_version }: Pick<DeployOutcome, 'result' | 'active_version'>,
): DeployOutcome {
  return {
    app: job.app.app,
    result,
    version: job.version,
    commit: job.commit,
    deploy_id: job.deployId,
    instance: event.instance,
    previous_version: event.previous_version ?? null,
    active_version,
    duration_ms: event.duration_ms ?? 0,
    log: job.log.path,
  };
}
