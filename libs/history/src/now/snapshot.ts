/** What is so now, for a screen or a page that stays open: files are read, nothing is written or started. */
import type { View } from '@runner/common/apps/instance-summary';
import type { AppState } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { type AppSummary, needsAttention, summaryOf } from '@runner/common/apps/summary';
import { namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';

/** All apps of a server at one moment. */
export interface Snapshot {
  /** Those that need attention first, then by name. */
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
    apps: apps
      .map((app) => summaryOf(paths, app, view))
      .sort((a, b) => Number(needsAttention(b)) - Number(needsAttention(a))),
    unreadable: unreadable.map(({ app }) => app),
    queue: orElse(
      () => ({ waiting: count(notifySpool), dead: count(`${notifySpool}/dead`) }),
      null,
    ),
  };
}

/** The deploy that runs or was the last one, by its id; undefined: there was none. */
export function newestDeployOf({ deploying, last_failure: failure, instances }: AppSummary) {
  if (deploying) return deploying.deploy_id;
  const ended = instances
    .flatMap(({ current, previous }) => [current ?? [], previous].flat())
    .map(({ deploy_id: id, deployed_at: at }) => ({ id, at }));
  if (failure) ended.push({ id: failure.deploy_id, at: failure.at });
  return ended.sort((a, b) => (a.at < b.at ? 1 : -1))[0]?.id;
}
