/** All apps in summary. */

import { retriesFor } from '@runner/common/apps/retries';
import { listApps } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import type { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';

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
