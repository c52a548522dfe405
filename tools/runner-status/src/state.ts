/** One app in summary. */
import { type AppSummary, summaryOf } from '@runner/common/app-summary';
import { requireApp } from '@runner/common/apps';
import type { Paths } from '@runner/common/paths';
import { retriesFor } from '@runner/common/retries';

/** Throws `app_not_found`, `state_malformed`. */
export async function statusOf(paths: Paths, name: string): Promise<AppSummary> {
  const app = requireApp(paths, name);
  return summaryOf(paths, app, await retriesFor(paths, [app]));
}
