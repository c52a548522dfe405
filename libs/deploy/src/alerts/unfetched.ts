/** A commit that could not be fetched: what the state keeps of it, and the failure of a deploy by hand. */
import { changeApp } from '@runner/common/apps/change';
import type { AppState, CheckFailed } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import { onFailure } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import { initiatorOf } from '@runner/common/foundation/user';
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';
import { type Announcing, announcerOf } from './announce.ts';
import { withCause } from './changes.ts';
import type { AlertEvent } from './observed.ts';

/** Limit of an error in the state, in code points. */
const MESSAGE_MAX = 500;

/** The newest error, a code and its sentence, since the first of consecutive ones. */
export function checkFailed(
  { check_failed: before }: Pick<AppState, 'check_failed'>,
  { error, text, commit }: { error: string; text: string; commit?: unknown },
  now: string,
): CheckFailed {
  const since = before?.since ?? now;
  const message = cutCodePoints(harmlessLine(text), MESSAGE_MAX);
  const isRefused = isRefusal(error) && typeof commit === 'string';
  return { since, error, message, ...(isRefused && { commit }) };
}

/** Whether a code is about one commit: another one is announced again. */
export const isRefusal = (code: string | undefined) =>
  code === 'commit_not_signed' || code === 'lineage_broken';

interface UnfetchedDeploy extends Announcing {
  readonly app: string;
  readonly trigger: string;
  readonly deployId?: string | undefined;
  /** The plan that it was to apply, with its version. */
  readonly about: Partial<AlertEvent>;
}

/**
 * Records and announces the failure as `fetch --deploy` does, which does not announce the same cause
 * again; also on a full disk, where the state cannot be written. Any trouble with it is only noted.
 */
export async function announceUnfetched(
  request: UnfetchedDeploy,
  { code, message: text, facts }: Failure,
): Promise<void> {
  const { io, paths, reporter, app: name, trigger, deployId, about } = request;
  const now = io.now().toISOString();
  const checked = (app: AppState) =>
    checkFailed(app, { error: code, text, commit: facts.commit }, now);
  const noted = (app: AppState): AppState => ({
    ...app,
    last_checked: now,
    check_failed: checked(app),
    reported: { ...app.reported, check: withCause(app.reported?.check ?? [], checked(app)) },
  });
  const announced = async () => {
    const app = findApp(paths, name);
    if (!app) return;
    const { message: error, commit } = checked(app);
    const deploy = {
      ...(commit !== undefined && { commit }),
      trigger,
      user: initiatorOf(io, trigger),
      ...(deployId && { deploy_id: deployId }),
      ...about,
    };
    const failure = { event_type: 'DeployFailure', stage: 'fetch', error, ...deploy } as const;
    const announcer = announcerOf(request);
    announcer.announce({ app, change: failure });
    try {
      changeApp({ io, paths, command: 'deploy', app: name }, noted);
    } finally {
      await announcer.finish();
    }
  };
  await announced().catch(
    onFailure((trouble) => reporter.note(`${trouble.message} (${trouble.code})`)),
  );
}
