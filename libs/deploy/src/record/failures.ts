/** What the state keeps of failures: those of a commit in a row; at `max_deploy_retries` of them automatic deploys of it stop. */
import type { AppState, LastFailure } from '@runner/common/apps/state';

/** One more failure of a commit; another commit begins at one. */
export function countFailure(
  app: AppState,
  commit: string,
  stage: string,
  now: Date,
): AppState['failures'] {
  const before = app.failures?.commit === commit ? app.failures.count : 0;
  return { commit, count: before + 1, last_at: now.toISOString(), stage };
}

/** The newest failure, for `runner status`; its whole text is in the audit log. */
export function lastFailure(
  { version, commit, deployId }: { version: string; commit: string; deployId: string },
  stage: string,
  error: string,
  now: Date,
): LastFailure {
  const [headline = ''] = error.split('\n');
  const shown = headline.slice(0, 500);
  return { version, commit, deploy_id: deployId, stage, error: shown, at: now.toISOString() };
}
