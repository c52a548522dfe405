/** The deploy windows that config.yml gives an app. */
import { readTextIfThere } from '../files/read.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import type { Paths } from '../foundation/paths.ts';
import { YAML_MAX } from '../yaml/read.ts';
import { readConfig } from './file.ts';
import { deployPolicyOf } from './settings.ts';
import { opensAt, untilWords, windowsOf } from './windows.ts';

/** The `deploy_windows` of an app. */
export type Windows = NonNullable<ReturnType<typeof readWindows>>;

/** Null if the app has none, or this user may not read config.yml. Throws `config_invalid`. */
export function readWindows(paths: Paths, app: string, now: Date) {
  const config = unlessFailure(() => readTextIfThere(paths.config, YAML_MAX), undefined);
  // Reading YAML is slow: only if it says something about windows.
  if (!config?.includes('deploy_windows')) return null;
  const windows = windowsOf(deployPolicyOf(readConfig(paths)).windows, app);
  if (windows.length === 0) return null;
  const opening = opensAt(windows, app, now);
  return {
    /** As config.yml has them. */
    rules: windows.flatMap(({ texts }) => texts),
    open: opening === undefined,
    /** When they open; null: they are open, or stay closed for a year. */
    opens_at: opening?.at?.toISOString() ?? null,
    /** `until Mon 08:00`, while they are closed. */
    text: opening ? untilWords(opening) : null,
  };
}

/** What comes next, and until when the windows are closed: that comes on top of what else decides. */
export function withWindows(next: string, windows: Windows | null): string {
  return windows?.text ? `${next}; outside its deploy windows ${windows.text}` : next;
}
