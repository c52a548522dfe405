/** One app in summary. */

import { retriesFor } from '@runner/common/apps/retries';
import { requireApp } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import type { Paths } from '@runner/common/foundation/paths';

/** Throws `app_not_found`, `state_malformed`. */
export async function statusOf(paths: Paths, name: string): Promise<AppSummary> {
  const app = requireApp(paths, name);
  return summaryOf(paths, app, await retriesFor(paths, [app]));
}
