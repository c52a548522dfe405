/** What the state of an app becomes after a failure: who is to blame, and what still runs. */
import type { AppState, LastFailure } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries } from '@runner/common/config/settings';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Blame, StepFailure } from '../run/step.ts';
import type { Deploy, Move } from './operation.ts';

/** Limit of a reason and an error, in characters: the audit log has the full text. */
const TEXT_MAX = 500;

/** A failed deploy or rollback. Only failures that the commit is to `blame` for count towards the block. */
export interface FailureNote
  extends Pick<Deploy, 'commit' | 'version' | 'deployId'>,
    Pick<StepFailure, 'stage' | 'blame'> {
  readonly error: string;
  readonly interrupted: boolean;
  readonly byHand: boolean;
  readonly at: Date;
}

/** The state after a failure, once every instance that had been touched was moved back. */
export function failedState(app: AppState, failure: FailureNote, moves: readonly Move[]): AppState {
  const instances = withMoves(app.instances, moves, failure.at);
  const ended = { ...app, instances, deploying: null };
  const failed = lastFailure(failure);
  if (failure.byHand) return { ...ended, last_rollback_failure: { ...failed, rollback: true } };
  const isHead = app.head === undefined || app.head === failure.commit;
  return {
    ...ended,
    last_failure: failed,
    ...(isHead && countAttempt(app, failure)),
    ...countReturn(app, failure),
  };
}

function lastFailure(failure: FailureNote): LastFailure {
  const { version, commit, deployId, stage, error, at, interrupted } = failure;
  return {
    version,
    commit,
    deploy_id: deployId,
    stage,
    error: failureLine(error),
    at: at.toISOString(),
    followed_by: [],
    ...(interrupted && { interrupted }),
  };
}

/**
 * One more attempt at the head of the branch; another commit starts at one. An interrupted attempt
 * is not followed by a wait. A commit that an operator chose counts nothing: it is not tried again.
 */
function countAttempt(
  { attempts, failures }: AppState,
  { commit, blame, stage, at }: FailureNote,
): Pick<AppState, 'attempts' | 'failures'> {
  const tried = attempts?.commit === commit ? attempts.count : 0;
  const isTry = blame === 'commit' || blame === 'server';
  const failed = failures?.commit === commit ? failures.count : 0;
  const last_at = at.toISOString();
  return {
    attempts: { commit, count: isTry ? tried + 1 : tried, at: last_at },
    failures: blame === 'commit' ? { commit, count: failed + 1, last_at, stage } : failures,
  };
}

/** One more attempt at what ran before a restore, which is tried again like a head. */
function countReturn(app: AppState, failure: FailureNote): object {
  const { restored } = app;
  const isReturn = Object.values(restored?.instances ?? {}).some(
    ({ commit }) => commit === failure.commit,
  );
  if (!restored || !isReturn) return {};
  const { attempts } = countAttempt(app, failure);
  const failures = (restored.failures ?? 0) + (failure.blame === 'commit' ? 1 : 0);
  return { attempts, restored: { ...restored, failures } };
}

/** Whether a failure is the last one before automatic deploys of its commit stop. */
export function willBlock(
  { paths, app, commit, skippedHead = commit }: Deploy,
  blame: Blame,
): boolean {
  if (blame !== 'commit' || skippedHead !== commit) return false;
  const failed = app.failures?.commit === commit ? app.failures.count + 1 : 1;
  // Without a config.yml that can be read nothing is deployed automatically.
  return unlessFailure(() => failed >= maxDeployRetries(readConfig(paths)), true);
}

/**
 * Whether automatic deploys tried a commit `max_deploy_retries` times, with `more` attempts. While the server
 * fails them it is tried again, and the same failure is not announced each time.
 */
export function isTriedOften({ paths, app, commit, trigger }: Deploy, more: number): boolean {
  const tried = more + (app.attempts?.commit === commit ? app.attempts.count : 0);
  const isOften = () => tried >= maxDeployRetries(readConfig(paths));
  return trigger === 'fetch' && unlessFailure(isOften, false);
}

/**
 * Whether an event says only what was announced of the attempt before: the same failure of the server, and the way
 * back after it. That an instance could not be restored is announced when it breaks.
 */
export function isRepeated({ app, commit }: Deploy, event: DeployEvent): boolean {
  if (event.event_type === 'RollbackSuccess') return true;
  const { muted, stage, error, rolled_back, instance } = event;
  const last = app.last_failure;
  const plain = (text: unknown) => failureLine(String(text)).replace(/\d+/g, '0');
  const isSame = last?.commit === commit && last.stage === stage;
  const breaks = rolled_back === false && !app.instances[String(instance)]?.broken;
  return isSame && muted === true && plain(last.error) === plain(error) && !breaks;
}

/** Marks instances that could not be restored as broken, and clears the mark of those that were. */
function withMoves(
  instances: AppState['instances'],
  moves: readonly Move[],
  at: Date,
): AppState['instances'] {
  const changed = { ...instances };
  for (const { instance, to, problem } of moves) {
    const known = changed[instance];
    // A first deploy leaves its instance in the state, with nothing that runs. What a later commit
    // adds is in no state before it has run.
    const isFirst = Object.values(instances).every(({ current }) => !current);
    const isNew = to === null && (isFirst || problem !== undefined);
    const before = known ?? (isNew ? { current: null, previous: [] } : undefined);
    if (!before) continue;
    const { broken, ...rest } = before;
    const since = broken?.since ?? at.toISOString();
    changed[instance] =
      problem === undefined ? rest : { ...rest, broken: { since, reason: failureLine(problem) } };
  }
  return changed;
}

/** What the state keeps of an error. */
export function failureLine(text: string): string {
  return (text.split('\n')[0] as string).slice(0, TEXT_MAX);
}
