/** What the head of a branch means for an app. */
import type { AppState } from '@runner/common/apps/state';
import type { Outcome } from '../pipeline/outcome.ts';

/** What was decided about one app; one line of `fetch`. */
export interface Decision {
  app: string;
  result:
    | 'up_to_date'
    /** Its head is active, but an instance is down or broken. */
    | 'not_running'
    | 'new_commit'
    | 'blocked'
    | 'held'
    | 'skipped'
    | 'error'
    | Outcome['result'];
  /** The decision in words. */
  text: string;
  commit: string | null;
  version: string | null;
  /** Code of what kept it from being found out; null otherwise. */
  error: string | null;
  deploy_id: string | null;
  /** What the decision means for the exit status. */
  status: number;
}

/** A decision, in which what it leaves out is null and the status 0. */
export function decision(
  app: string,
  result: Decision['result'],
  text: string,
  more: Partial<Decision> = {},
): Decision {
  return {
    app,
    result,
    text,
    commit: null,
    version: null,
    error: null,
    deploy_id: null,
    status: 0,
    ...more,
  };
}

/** Block and hold are about one commit: another one lifts both by itself. */
export function judge(app: AppState, commit: string, version: string, retries: number): Decision {
  const about = { commit, version };
  // A deploy that was killed left something to clean up, whatever the head is.
  if (app.deploying) return decision(app.app, 'new_commit', `new commit ${version}`, about);
  const running = Object.values(app.instances).map(({ current }) => current?.commit);
  if (running.length > 0 && running.every((each) => each === commit)) {
    return decision(app.app, 'up_to_date', 'up to date', about);
  }
  if (app.failures?.commit === commit && app.failures.count >= retries) {
    const text = `deploy blocked, same commit failed ${app.failures.count} times`;
    return decision(app.app, 'blocked', text, about);
  }
  if (app.held?.commit === commit) {
    const { reason } = app.held;
    const why = reason.endsWith(' was deployed by hand') ? reason : `${version} was rolled back`;
    return decision(app.app, 'held', `held: ${why}`, about);
  }
  return decision(app.app, 'new_commit', `new commit ${version}`, about);
}
