/** The retry limit, read only if an app has failed: loading YAML is slow. */

import type { Paths } from '../foundation/paths.ts';
import type { AppState } from './state.ts';

/** The default in config.yml; without failures nothing depends on it. */
const DEFAULT_RETRIES = 3;

/** `max_deploy_retries` of config.yml if one of the apps has failures, else its default. */
export async function retriesFor(paths: Paths, apps: readonly AppState[]): Promise<number> {
  if (!apps.some((app) => app.failures)) return DEFAULT_RETRIES;
  const { readConfig } = await import('../config/file.ts');
  const { maxDeployRetries } = await import('../config/settings.ts');
  return maxDeployRetries(readConfig(paths));
}
