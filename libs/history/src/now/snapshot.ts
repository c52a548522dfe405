/** What is so now, for a screen or a page that stays open: files are read, nothing is written or started. */
import type { View } from '@runner/common/apps/instance-summary';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { type AppSummary, isHealthy, summaryOf } from '@runner/common/apps/summary';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';

/** All apps of a server at one moment. */
export interface Snapshot {
  readonly apps: readonly AppSummary[];
  /** Names of apps whose state cannot be read. */
  readonly unreadable: readonly string[];
  /** Messages that wait for their chats, and that were given up; null: this user may not see them. */
  readonly queue: { readonly waiting: number; readonly dead: number } | null;
}

/** A message in `spool/notify/`; beside it are the states of channels. */
const MESSAGE = /^[0-9a-z]{9}-[0-9a-f]{4}\.[a-z-]+\.json$/;

/** Reads all states. Throws what listing them throws. */
export async function snapshotOf(
  paths: Paths,
  viewOf: (apps: readonly AppState[]) => View | Promise<View>,
): Promise<Snapshot> {
  const { apps, unreadable } = listApps(paths);
  const view = await viewOf(apps);
  const count = (folder: string) => namesIn(folder).filter((name) => MESSAGE.test(name)).length;
  const { notifySpool } = paths;
  return {
    apps: apps.map((app) => summaryOf(paths, app, view)),
    unreadable: unreadable.map(({ app }) => app),
    queue: orElse(() => ({ waiting: count(notifySpool), dead: count(`${notifySpool}/dead`) }), null),
  };
}

/** `3 apps`, `3 apps, 1 needs attention`: what is the most important. */
export function countWords({ apps, unreadable }: Snapshot): string {
  const all = apps.length + unreadable.length;
  const bad = apps.filter((app) => !isHealthy(app)).length + unreadable.length;
  const attention = bad === 0 ? '' : `, ${bad} ${bad === 1 ? 'needs' : 'need'} attention`;
  return `${all} ${all === 1 ? 'app' : 'apps'}${attention}`;
}

/** The version of an app, or of each of its instances where they differ. */
export function versionWords({ instances }: AppSummary): string {
  const versions = instances.map(({ current, restored }) =>
    restored ? `${restored.version} (to deploy)` : (current?.version ?? '-'),
  );
  return [...new Set(versions)].join(', ') || '-';
}

/** Why an app is as it is: the reason of what is wrong with it, else what comes next. */
export function reasonWords(app: AppSummary): string {
  const { state, check_failed: check, last_failure: failure, jobs, instances, next } = app;
  const broken = instances.find((each) => each.broken)?.broken?.reason;
  if (state === 'broken' && broken) return broken;
  if (state === 'stale' && check) return check.message;
  if ((state === 'failing' || state === 'blocked') && failure) return failure.error;
  return jobs.find(({ trouble }) => trouble)?.trouble ?? next;
}
