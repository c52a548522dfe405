/** That the code host cannot be asked: kept, and announced once if it lasts. */
import { changeApp } from '@runner/common/apps/change';
import type { PreviewSettings } from '@runner/common/apps/preview';
import type { Failure } from '@runner/common/foundation/failure';
import { announcerOf } from '@runner/deploy/alerts/announce';
import { checkFailed } from '@runner/deploy/alerts/unfetched';
import type { PreviewContext, PreviewedApp } from './context.ts';

/** It lasts, in milliseconds. */
const LASTS = 600_000;

/** Keeps why it could not be asked, undefined: it could; and announces that it lasts, and its end. */
export async function noteAsked(
  { io, paths, reporter }: PreviewContext,
  { app, previews: { check_failed: before, notify } }: PreviewedApp,
  failure: Failure | undefined,
): Promise<void> {
  if (!before && !failure) return;
  const now = io.now();
  const found = failure && { error: failure.code, text: failure.message };
  const check = found && checkFailed({ check_failed: before ?? null }, found, now.toISOString());
  const lasts = check && now.getTime() - Date.parse(check.since) >= LASTS;
  const isNews = lasts ? !before?.announced : !check && before?.announced;
  const reason = `its previews could not be looked for since ${check?.since ?? before?.since}`;
  const change = check
    ? { event_type: 'DeployWaiting' as const, reason: `${reason}: ${check.message}` }
    : { event_type: 'CheckRecovered' as const, reason };
  const announcer = announcerOf({ io, paths, reporter, notify: notify === true });
  try {
    changeApp({ io, paths, app, command: 'preview' }, (known) => {
      const { check_failed: _, ...rest } = known.previews as PreviewSettings;
      const kept = check && { ...check, ...(lasts && { announced: true as const }) };
      if (isNews) announcer.announceAhead({ app: known, change });
      return { ...known, previews: { ...rest, ...(kept && { check_failed: kept }) } };
    });
  } finally {
    await announcer.finish();
  }
}
