/** Instances of which nothing could be started any more: what the state remembers of them. */
import type { AppState } from '@runner/common/apps/state';

/** What became of an instance that was to be brought back. */
export interface Aftermath {
  readonly instance: string;
  /** Why it could not be started; undefined when it runs again. */
  readonly problem: string | undefined;
}

/** Longest reason that is kept, in characters: the whole one is in the audit log. */
const REASON_MAX = 500;

/** Notes the instances that could not be brought back, and forgets that of those that were. */
export function withAftermath(
  instances: AppState['instances'],
  aftermath: readonly Aftermath[],
  now: Date,
): AppState['instances'] {
  const changed = { ...instances };
  for (const { instance, problem } of aftermath) {
    const before = changed[instance];
    if (!before) continue;
    const { broken, ...rest } = before;
    const [reason = ''] = (problem ?? '').split('\n');
    const since = broken?.since ?? now.toISOString();
    changed[instance] =
      problem === undefined
        ? rest
        : { ...rest, broken: { since, reason: reason.slice(0, REASON_MAX) } };
  }
  return changed;
}
