/** The deploy windows that config.yml gives an app. */
import { readConfig } from '@runner/common/config/file';
import { deployPolicyOf } from '@runner/common/config/settings';
import { opensAt, untilWords, windowsOf } from '@runner/common/config/windows';
import type { Paths } from '@runner/common/foundation/paths';

/** The `deploy_windows` of an app. */
export interface Windows {
  /** As config.yml has them. */
  rules: string[];
  open: boolean;
  /** When they open; null: they are open, or stay closed for a year. */
  opens_at: string | null;
  /** `until Mon 08:00`, while they are closed. */
  text: string | null;
}

/** Null if the app has none. Throws `config_invalid`. */
export function readWindows(paths: Paths, app: string, now: Date): Windows | null {
  const windows = windowsOf(deployPolicyOf(readConfig(paths)).windows, app);
  if (windows.length === 0) return null;
  const opening = opensAt(windows, app, now);
  return {
    rules: windows.flatMap(({ texts }) => texts),
    open: opening === undefined,
    opens_at: opening?.at?.toISOString() ?? null,
    text: opening ? untilWords(opening) : null,
  };
}
