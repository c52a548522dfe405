/** How a deploy ends: its last events, the state of the app, and what the command prints. */
import type { Deployed } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { initiatorOf } from '@runner/common/foundation/user';
import { UNSWITCHED } from '../instances/activate.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import type { Seen } from '../instances/probe.ts';
import { previousOfAll } from '../instances/target.ts';
import { failedState, willBlock } from '../journal/after-failure.ts';
import { succeededState } from '../journal/after-success.ts';
import { announce, eventsOf, rolledBackEvents } from '../journal/events.ts';
import { secretsStarted, writeEnd } from '../journal/mark.ts';
import { isBack, type Job, type Move, problemsOf } from '../journal/operation.ts';
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
  /** Longest time in which the app did not answer a prober, in ms; absent if none could ask. */
  gap_ms?: number;
  /** How often it was asked. */
  probes?: number;
}

/** Where and why a deploy failed, and the outcome for each switched instance. */
export interface FailedDeploy {
  readonly error: StepFailure;
  /** The instance at which it failed; undefined before the first one. */
  readonly at: string | undefined;
  readonly moves: readonly Move[];
  /** undefined: `.deploy.yml` itself is wrong. */
  readonly file: DeployFile | undefined;
  /** The lines of the step's output that say why; empty if it printed nothing. */
  readonly cause: string;
  /** What a prober saw; undefined if nothing had been there to ask. */
  readonly seen: Seen | undefined;
}

/** Records a success: the event first, from which a state that could not be written is corrected. */
export function concludeSuccess(
  job: Job,
  file: DeployFile,
  release: string,
  seen: Seen | undefined,
): DeployOutcome {
  const { version, commit, deployId: deploy_id, changes, instances } = job;
  const end = { ...endFields(job), ...gapOf(seen) };
  const events = eventsOf(job, 'DeploySuccess', instances, file, (instance) => ({
    ...end,
    changes,
    ...previousFields(job, instance),
  }));
  // Before the state: a kill between the two announces it once more rather than never.
  announce(job, events);
  const deployed_at = events[0]?.timestamp ?? job.io.now().toISOString();
  const start = file.start.type;
  const deployed: Deployed = { version, commit, release, deployed_at, deploy_id, changes, start };
  secretsStarted(job);
  const choice = { ...job, by: initiatorOf(job.io, job.trigger) };
  writeEnd(job, (app) => succeededState(app, instances, deployed, file.keep, choice));
  const outcome = { result: 'deployed' as const, active_version: version, ...seen };
  return { ...baseOf(job, instances, end.duration_ms), ...outcome };
}

/** Records a failure, and each instance that was rolled back. */
export function concludeFailure(job: Job, failed: FailedDeploy): DeployOutcome {
  const { error, at: place, moves, cause, seen } = failed;
  const problems = problemsOf(moves, 'rollback');
  const parts = [error.message, ...problems, error.output.trimEnd()];
  const text = job.redact(parts.filter((part) => part !== '').join('\n'));
  const end = { ...endFields(job), ...gapOf(seen) };
  announce(job, failureEvents(job, failed, problems, { ...end, error: text }));
  const isRolledBack = announceRollbacks(job, failed);
  writeEnd(job, (app) => {
    const { stage, blame } = error;
    const interrupted = isInterrupted(job, error);
    const note = { ...job, stage, error: text, blame, interrupted, at: job.io.now() };
    return failedState(app, note, moves);
  });
  const base = baseOf(job, place === undefined ? job.instances : [place], end.duration_ms);
  return {
    ...base,
    result: isRolledBack && problems.length === 0 ? 'rolled_back' : 'failed',
    active_version: problems.length > 0 ? null : base.previous_version,
    stage: error.stage,
    error: text,
    ...(cause !== '' && { cause }),
    ...(problems.length > 0 && { rollback_error: problems.join('; ') }),
    ...(isInterrupted(job, error) && { interrupted: true }),
    ...seen,
  };
}

function gapOf(seen: Seen | undefined): Partial<DeployEvent> {
  return seen ? { gap_ms: seen.gap_ms } : {};
}

/** An operator can also be to blame for a command that cannot succeed. */
function isInterrupted({ signal }: Job, { blame }: StepFailure): boolean {
  return blame === 'operator' && signal.aborted;
}

function failureEvents(
  job: Job,
  { error, at: place, file, cause, moves }: FailedDeploy,
  problems: readonly string[],
  fields: Partial<DeployEvent>,
): DeployEvent[] {
  const { instances } = job;
  return eventsOf(job, 'DeployFailure', instances, file, (instance) => ({
    ...fields,
    ...previousFields(job, instance),
    ...{ stage: error.stage, log: job.log.path },
    ...(place !== undefined && instances.length > 1 && { failed_instance: place }),
    ...(cause !== '' && { cause }),
    ...(isInterrupted(job, error) && { interrupted: true }),
    ...(willBlock(job, error.blame) && { blocked: true }),
    // Absent when nothing had been switched: the previous version never stopped.
    ...(problems.length > 0
      ? { rolled_back: false, reason: problems.join('; ') }
      : moves.some(({ to }) => to)
        ? { rolled_back: true }
        : error.message.endsWith(UNSWITCHED) && { reason: UNSWITCHED }),
  }));
}

/** Returns whether an instance was rolled back to an earlier version. */
function announceRollbacks(job: Job, { error, moves }: FailedDeploy): boolean {
  const back = moves.filter(isBack);
  const events = rolledBackEvents(job, back, ({ to }) => ({
    file: fileOfRelease(job.paths, job.app.app, to),
    reason: error.message,
  }));
  announce(job, events);
  return back.length > 0;
}

/** The version that an instance had before. */
export function previousFields({ app }: Pick<Job, 'app'>, instance: string): Partial<DeployEvent> {
  const previous = previousOfAll(app, [instance])?.version;
  return previous === undefined ? {} : { previous_version: previous };
}

function endFields({ io, began, stages }: Job) {
  return { duration_ms: Math.round(io.elapsed() - began), steps: stages.steps() };
}

function baseOf(job: Job, instances: readonly string[], duration_ms: number) {
  return {
    app: job.app.app,
    result: 'failed' as const,
    version: job.version,
    commit: job.commit,
    deploy_id: job.deployId,
    instance: instances.join(','),
    previous_version: previousOfAll(job.app, instances)?.version ?? null,
    active_version: null,
    duration_ms,
    log: job.log.path,
  };
}
