/** Failures of a commit in a row; at `max_deploy_retries` of them automatic deploys of it stop. */
import type { AppState } from '@runner/common/apps';

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
