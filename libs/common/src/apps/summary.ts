/** What `list` and `status` show of an app: its state without the sealed token. */
import { liveHolder } from '../files/lock.ts';
import type { Paths } from '../foundation/paths.ts';
import { instanceSummary, type View } from './instance-summary.ts';
import { jobSummaries } from './job-book.ts';
import { nextOf } from './next.ts';
import { pauseOf, type ShownHold } from './operator.ts';
import { operatorFileOf } from './operator-file.ts';
import { deployWaits, openPlans, waitingPlans, withApprovals } from './plan-words.ts';
import { leftMigration } from './schema-way.ts';
import { isHeld } from './slots.ts';
import type { AppState } from './state.ts';
import { type StateWord, stateOf } from './state-word.ts';
import type { WatchEnd } from './watch.ts';

/** One app in `runner list` and `runner status`. */
export type AppSummary = ReturnType<typeof summaryOf>;

/** The states that need an operator: `runner status --check` fails in them. */
const UNHEALTHY: readonly StateWord[] = ['broken', 'down', 'blocked', 'stale'];

/** What is wrong with an app whatever its state: its release was judged bad, or a job is in trouble. */
export function troublesOf(summary: AppSummary): string[] {
  const bad = badRelease(summary);
  const judged = bad ? [`${bad.version} was judged bad, and runs: ${bad.reason}`] : [];
  return [...judged, ...summary.jobs.flatMap(({ trouble }) => trouble ?? [])];
}

/** The end of the watch that judged the running release bad; undefined if no release that runs is bad. */
export function badRelease({ watched, instances }: AppSummary): WatchEnd | undefined {
  if (watched?.verdict !== 'bad') return undefined;
  const isLeft = instances.every(
    ({ current, stopped }) => stopped || current?.deploy_id !== watched.deploy_id,
  );
  return isLeft ? undefined : watched;
}

/**
 * Whether an app is in no state that needs an operator, and neither is its release, a job or a hold of
 * requests; an app that never ran and fails needs one.
 */
export function isHealthy(summary: AppSummary): boolean {
  const { state, instances, traffic_hold: hold } = summary;
  if (hold?.lost || troublesOf(summary).length > 0) return false;
  if (state === 'failing') return instances.some(({ current }) => current);
  return !UNHEALTHY.includes(state);
}

/** Whether `status --check` reports an app, or a failed deploy of it is tried again. */
export function needsAttention(app: AppSummary): boolean {
  return !isHealthy(app) || app.state === 'failing' || app.state === 'interrupted';
}

export function summaryOf(paths: Paths, app: AppState, view: View) {
  const all = new Set([
    ...Object.keys(app.instances),
    ...Object.keys(app.restored?.instances ?? {}),
  ]);
  const instances = [...all].map((name) => instanceSummary(paths, app, name, view));
  const state = stateOf(app, instances, view);
  const open = view.isClosed ? [] : openPlans(paths, app, view.now, view.isOutdated);
  const plans = waitingPlans(open);
  const left = leftMigration(app);
  const holder = view.isClosed ? undefined : liveHolder(paths.lock(app.app));
  const { pid, command, since } = holder ?? {};
  return {
    app: app.app,
    ...(app.host !== undefined && { host: app.host }),
    repo: app.repo,
    branch: app.branch,
    tags: app.tags ?? null,
    /** Only what changes one of these pathspecs is deployed; null: any commit. */
    paths: app.paths ?? null,
    /** Whether a token is stored. */
    token: Boolean(app.state.repohost_token ?? app.state.has_token),
    /** Whose commits need a signature: the one that is deployed, or all; null: none. */
    require_signed: app.require_signed ?? null,
    /** What the operator's `.deploy.yml` counts for: commits without one, or all; null without it. */
    deploy_file: operatorFileOf(app),
    /** One word, which `list` shows. */
    state,
    instances,
    failures: app.failures,
    last_failure: newestFailure(app),
    /** Failures of one commit after which automatic deploys of it stop. */
    max_deploy_retries: view.retries.max,
    held: app.held,
    /** Since when, by whom and why instances are stopped. */
    stopped: app.stopped ?? null,
    /** Since when, by whom, until when and why fetch deploys nothing. */
    paused: pauseOf(app, view.now),
    /** Until when requests are held, and how. */
    traffic_hold: shownHold(paths, app, view),
    deploying: app.deploying,
    /** The current holder of the app's lock. */
    lock:
      pid === undefined
        ? null
        : { pid, command: String(command ?? ''), since: String(since ?? '') },
    /** When the next automatic deploy happens, in words. */
    next:
      deployWaits(paths, app.app, open) ??
      withApprovals(paths, app.app, plans, nextOf(app, state, instances, view)),
    last_checked: app.last_checked,
    /** Since when `fetch` knows a newest commit that does not run; null: it runs. */
    behind_since: app.behind_since ?? null,
    /** The certificate that each domain shows its visitors. */
    certificates: app.certificates ?? {},
    /** The release that is being judged, and how the newest watch ended. */
    watch: app.watch ?? null,
    watched: app.watched ?? null,
    /** The command that goes on after a migration that was killed; null: none was. */
    migration_left:
      left && state !== 'deploying' ? withApprovals(paths, app.app, plans, left.command) : null,
    /** The newest migration that is in the database. */
    migration: app.migrations?.findLast(({ gone, first }) => !gone && !first) ?? null,
    /** Those of its active releases. */
    jobs: jobSummaries(paths, app, view.isClosed),
    /** The plans that wait for approvals, or have them and are not applied. */
    plans,
    /** Since when and why `fetch` cannot check for new commits. */
    check_failed: app.check_failed ?? null,
    created_at: app.created_at,
    updated_at: app.updated_at,
    /** Which preview it is; null: none. */
    preview: previewIn(app),
  };
}

function shownHold(
  paths: Paths,
  { app, traffic_hold: hold }: AppState,
  { isClosed }: View,
): ShownHold | null {
  if (!hold) return null;
  if (isClosed) return { ...hold, lost: null };
  const isAside = hold.instances.some((name) => isHeld(paths.app(app).instance(name)));
  return { ...hold, lost: isAside && !liveHolder(paths.holdLock(app)) };
}

function previewIn({ preview }: AppState) {
  if (!preview) return null;
  const { of, key, commit, domain } = preview;
  return { of, key, commit, domain };
}

/** The failure that came last: of a deploy, or of a manual rollback. */
function newestFailure({ last_failure: deploy, last_rollback_failure: rollback }: AppState) {
  const isRollback = rollback && (!deploy || deploy.at < rollback.at);
  return (isRollback ? rollback : deploy) ?? null;
}
