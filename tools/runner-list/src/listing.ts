/** All apps in summary. */
import { type AppSummary, summaryOf } from '@runner/common/app-summary';
import { listApps } from '@runner/common/apps';
import type { Failure } from '@runner/common/failure';
import type { Paths } from '@runner/common/paths';
import { retriesFor } from '@runner/common/retries';

/** What `list` prints. */
export interface Listing {
  count: number;
  apps: AppSummary[];
  /** Names of apps whose state cannot be read; they do not count. */
  unreadable: string[];
}

/** Apps by name, and those whose state cannot be read. */
export async function listing(
  paths: Paths,
): Promise<{ value: Listing; unreadable: { app: string; failure: Failure }[] }> {
  const { apps, unreadable } = listApps(paths);
  const retries = await retriesFor(paths, apps);
  const value = {
    count: apps.length,
    apps: apps.map((app) => summaryOf(paths, app, retries)),
    unreadable: unreadable.map(({ app }) => app),
  };
  return { value, unreadable };
}
