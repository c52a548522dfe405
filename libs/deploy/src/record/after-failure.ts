/** What the state of an app becomes after a failure: who is to blame, and what still runs. */
import type { AppState } from '@runner/common/apps/state';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries } from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Blame } from '../run/step.ts';
import type { Job, Move } from './operation.ts';

/** Limit of a reason and an error, in characters: the audit log has the full text. */
const TEXT_MAX = 500;

/** A failed deploy or rollback. */
export interface FailureNote {
  readonly commit: string;
  readonly version: string;
  readonly deployId: string;
  readonly stage: string;
  readonly error: string;
  /** Only failures of the commit count towards the block. */
  readonly blame: Blame | undefined;
  /** An operator ended the deploy. */
  readonly interrupted?: boolean;
  /** It was a rollback by hand. */
  readonly byHand?: boolean | undefined;
  readonly at: Date;
}

/** The state after a failure, once every instance that had been touched was moved back. */
export function failedState(app: AppState, failure: FailureNote, moves: readonly Move[]): AppState {
  const { version, commit, deployId, stage, error, at } = failure;
  const counts = failure.blame === 'commit' && !failure.byHand;
  return {
    ...app,
    instances: withMoves(app.instances, moves, at),
    failures: counts ? countFailure(app, failure) : app.failures,
    last_failure: {
      ...{ version, commit, deploy_id: deployId, stage },
      error: firstLine(error),
      at: at.toISOString(),
      attempts: attemptsOf(app, failure),
      ...(failure.byHand && { rollback: true }),
      followed_by: [],
      ...(failure.interrupted && { interrupted: true }),
    },
    deploying: null,
  };
}

/** One more attempt at a commit. An interrupted one is not followed by a wait. */
function attemptsOf({ last_failure: last }: AppState, { commit, blame }: FailureNote): number {
  const before = last?.commit === commit ? (last.attempts ?? 0) : 0;
  return blame === 'commit' || blame === 'server' ? before + 1 : before;
}

/** Whether a failure is the last one before automatic deploys of its commit stop. */
export function willBlock(
  { paths, app, commit }: Pick<Job, 'paths' | 'app' | 'commit'>,
  blame: Blame,
): boolean {
  if (blame !== 'commit') return false;
  const failed = app.failures?.commit === commit ? app.failures.count + 1 : 1;
  try {
    return failed >= maxDeployRetries(readConfig(paths));
  } catch (error) {
    // Without a config.yml that can be read nothing is deployed automatically.
    if (error instanceof Failure) return true;
    throw error;
  }
}

/** One more failure of a commit; another commit starts at one. */
function countFailure(app: AppState, { commit, stage, at }: FailureNote): AppState['failures'] {
  const before = app.failures?.commit === commit ? app.failures.count : 0;
  return { commit, count: before + 1, last_at: at.toISOString(), stage };
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
      problem === undefined ? rest : { ...rest, broken: { since, reason: firstLine(problem) } };
  }
  return changed;
}

function firstLine(text: string): string {
  return (text.split('\n')[0] as string).slice(0, TEXT_MAX);
}
