/** What `status` shows of one app beside its summary: secrets, checks, windows, and what it uses. */

import { PREVIEWS, readSecrets } from '@runner/common/app-secrets/file';
import { diskOf } from '@runner/common/apps/disk';
import type { View } from '@runner/common/apps/instance-summary';
import type { AppState } from '@runner/common/apps/state';
import { summaryOf } from '@runner/common/apps/summary';
import { isViewer } from '@runner/common/apps/viewed';
import { readWindows, withWindows } from '@runner/common/config/app-windows';
import { usageOf } from '@runner/common/files/usage';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { verdictOf } from '@runner/deploy/checks/verdict';
import { unfitWords } from '@runner/deploy/database/way-back';
import { pidsIn } from '@runner/deploy/lifecycle/view';
import { metByRollback } from '@runner/deploy/rollback/met';
import { hasWatcher, readProgress } from '@runner/deploy/watch/progress';

/** The answer of `status` for one app. */
export type Detailed = Awaited<ReturnType<typeof detailed>>;

/** For counting the files of the app, in milliseconds. */
const COUNTING = 2_000;

export async function detailed({ io, paths }: Server, app: AppState, view: View, counts: boolean) {
  const summary = summaryOf(paths, app, view);
  const usage = summary.instances.flatMap((each) => {
    const used = each.running
      ? usageOf(pidsIn(paths, summary.app, each.instance, view))
      : undefined;
    return used ? [[each.instance, used] as const] : [];
  });
  const windows = readWindows(paths, summary.app, view.now);
  return {
    ...summary,
    next: withWindows(summary.next, windows),
    /** Names of its secrets; null if they cannot be read. */
    secrets: namesOf(paths, summary.app),
    /** By instance; without those whose processes are not known. */
    usage: Object.fromEntries(usage),
    /** When `fetch --deploy` may deploy it; null: at any time. */
    windows,
    /** Why the newest commit is not deployed yet: its checks; null if none is waited for. */
    checks: waitingOf(app),
    ...judgingOf({ io, paths }, app),
    /** That an active version does not work with the database, and the way to restore it; null: it does, or no one knows. */
    unfit: unfitWords({ paths, app }) ?? null,
    /** What `runner rollback` meets in the database, at its worst; null: no migration, or it has nowhere to go. */
    way_back: metByRollback({ paths, app }) ?? null,
    /** Since when and why its pull requests cannot be looked for; null: they can, or it has no previews. */
    previews_failed: app.previews?.check_failed ?? null,
    /** null: not counted. */
    disk: counts ? diskOf(paths, summary.app, COUNTING) : null,
  };
}

/** The release that is watched, or has a share of the requests: what was found, and whether anyone watches. */
function judgingOf({ io, paths }: Server, { app, watch, deploying }: AppState) {
  const id = watch?.deploy_id ?? (deploying?.stage === 'canary' ? deploying.deploy_id : undefined);
  const judging = id === undefined ? undefined : readProgress(paths, app, id);
  // Who may only view the apps may not see who holds a lock.
  const watcher = watch && !isViewer(paths) ? hasWatcher({ io, paths }, app, watch) : null;
  return {
    /** What was found so far of the release that is watched or has a share of the requests; null: none, or not known yet. */
    judging: judging ?? null,
    /** Whether a process watches it; null: nothing is watched, or no one may know. */
    watcher,
  };
}

/** What the checks of a commit keep from being deployed. */
function waitingOf({ require_checks: required, checks, head, instances }: AppState) {
  if (!required || !checks || (head !== undefined && checks.commit !== head)) return null;
  const isActive = Object.values(instances).some(
    ({ current }) => current?.commit === checks.commit,
  );
  const verdict = verdictOf(required, checks);
  if (isActive || verdict.result === 'passed') return null;
  return { commit: checks.commit, ...verdict };
}

function namesOf(paths: Paths, app: string): string[] | null {
  const own = () =>
    readSecrets(paths, app)?.secrets.filter(({ instance }) => instance !== PREVIEWS) ?? [];
  const read = () => own().map(({ name }) => name);
  const names = unlessFailure(read, null);
  return names && [...new Set(names)].sort();
}
