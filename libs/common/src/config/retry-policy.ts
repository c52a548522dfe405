/** Reads the retry policy. A file of its own: it is bundled once, for commands that rarely need config.yml. */
import type { Paths } from '../foundation/paths.ts';
import { readConfig } from './file.ts';
import { type RetryPolicy, retryPolicyOf } from './settings.ts';

export function readRetryPolicy(paths: Paths): RetryPolicy {
  return retryPolicyOf(readConfig(paths));
}
