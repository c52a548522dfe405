/** How many failures block a commit, read only when an app has failed: reading YAML is slow. */

import type { Paths } from '../foundation/paths.ts';
import type { AppState } from './state.ts';

/** What config.yml's default is; no failure, so nothing depends on it. */
const DEFAULT_RETRIES = 3;

/** `max_deploy_retries` of config.yml when one of the apps has failures, else its default. */
export async function retriesFor(paths: Paths, apps: readonly AppState[]): Promise<number> {
  if (!apps.some((app) => app.failures)) return DEFAULT_RETRIES;
  const { readConfig } = await import('../config/file.ts');
  const { maxDeployRetries } = await import('../config/settings.ts');
  return maxDeployRetries(readConfig(paths));
}
