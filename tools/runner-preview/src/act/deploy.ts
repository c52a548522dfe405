/** Making a preview, or bringing it to the newest push. */
import { givePreviewSecrets } from '@runner/common/app-secrets/previews';
import { changeRegistry } from '@runner/common/apps/change';
import { type PreviewMark, type SeenPreview, sleepOf } from '@runner/common/apps/preview';
import type { AppState } from '@runner/common/apps/state';
import { createApp, findApp, newApp, requireApp, writeApp } from '@runner/common/apps/store';
import { makeFolder } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { redactorForAny } from '@runner/common/redaction/redact';
import { deploy } from '@runner/deploy/pipeline/deploy';
import type { PreviewCandidate } from '../host/pulls.ts';
import { previewUrl } from '../plan/address.ts';
import { domainFor } from '../plan/reconcile.ts';
import { leadToServed, passAs } from './access.ts';
import {
  changePreview,
  nameOf,
  type PreviewContext,
  type PreviewedApp,
  recordPreview,
  show,
} from './context.ts';

/** Attempts at one commit that a kill, the host or the server ended. */
const TRIES = 3;
const ERROR_MAX = 2_000;

/** What is to be made. */
export interface WantedPreview {
  readonly candidate: PreviewCandidate;
  readonly seen: SeenPreview;
}

/** Deploys it. What the host or the server is to blame for is tried again by the next fetch. */
export async function deployPreview(
  context: PreviewContext,
  parent: PreviewedApp,
  wanted: WantedPreview,
): Promise<void> {
  const { io, paths, reporter, signal, next, trigger } = context;
  const app = nameOf({ of: parent.app, key: wanted.candidate.key });
  const before = register(context, parent, wanted);
  passAs(context, parent.app, [app]);
  givePreviewSecrets(context, parent.app, { app, key: before.key });
  try {
    const notify = before.notify === true;
    const outcome = await deploy({ io, paths, app, reporter, signal, next, trigger, notify });
    leadToServed(context, app);
    if (outcome.interrupted) return;
    const isReady = outcome.result === 'deployed';
    const isOfCommit = requireApp(paths, app).failures?.commit === outcome.commit;
    await conclude(
      context,
      app,
      isReady ? undefined : (outcome.cause ?? outcome.error ?? 'failed'),
      isReady || isOfCommit || before.tries >= TRIES ? 0 : before.tries,
    );
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted) throw error;
    if (error.code === 'not_ready') {
      // The server still lacks what it lacked: that was no try.
      const lacking = { outcome: 'failed', error: error.message } as const;
      const again = ({ tries, ...now }: PreviewMark) => ({ ...now, tries: Math.max(1, tries - 1) });
      changePreview(context, app, (now) => ({ ...again(now), ...lacking }));
      return show(context, app);
    }
    const redact = await redactorForAny({ paths, env: io.env }, app);
    const isBusy = error.code === 'locked';
    if (isBusy) changePreview(context, app, (now) => ({ ...now, tries: now.tries - 1 }));
    if (isBusy || before.tries < TRIES) throw error;
    await conclude(context, app, redact(`${error.message} (${error.code})`), 0);
  }
}

/** Registers it with the commit that it may deploy, before anything else: from here on it is known. */
function register(
  { io, paths }: PreviewContext,
  parent: PreviewedApp,
  { candidate: { key, number, branch, ref }, seen }: WantedPreview,
): PreviewMark {
  const app = appName(nameOf({ of: parent.app, key }));
  return changeRegistry({ io, paths, command: 'preview' }, () => {
    const known = findApp(paths, app);
    const { comment, shown, database, tries = 0, commit } = known?.preview ?? {};
    const preview: PreviewMark = {
      of: parent.app,
      key,
      branch,
      ref,
      commit: seen.commit,
      pushed_at: seen.at,
      domain: domainFor(parent.previews, key),
      tries: commit === seen.commit ? tries + 1 : 1,
      ...(number !== undefined && { number }),
      ...(seen.allowed_by !== undefined && { allowed_by: seen.allowed_by }),
      ...(parent.previews.notify && { notify: true as const }),
      ...sleepOf(parent.previews),
      ...(comment !== undefined && { comment }),
      ...(shown !== undefined && { shown }),
      ...(database && { database }),
    };
    const now = io.now().toISOString();
    const { host, repo, deploy_file, require_signed } = parent;
    const {
      deploy_file: _,
      require_signed: __,
      ...kept
    } = known ?? newApp(app, now, { repo, branch });
    const state: AppState = {
      ...kept,
      ...(host !== undefined && { host }),
      repo,
      branch,
      updated_at: now,
      preview,
      ...(deploy_file && { deploy_file }),
      // The head alone: what came before it was not necessarily looked at by anyone.
      ...(require_signed && { require_signed: 'head' as const }),
    };
    if (known) writeApp(paths, state);
    else createApp(paths, state);
    makeFolder(paths.app(app).dir);
    return preview;
  });
}

/**
 * Keeps how it ended, and shows it; `error`: why it failed, undefined: it is ready; `tries`: of a failure
 * that is tried again.
 */
async function conclude(
  context: PreviewContext,
  app: string,
  error: string | undefined,
  tries: number,
): Promise<void> {
  const about = error === undefined ? {} : { error: error.slice(0, ERROR_MAX) };
  const { preview: known } = requireApp(context.paths, app) as { preview: PreviewMark };
  recordPreview(context, error === undefined ? 'PreviewReady' : 'PreviewFailed', {
    preview: known,
    ...about,
  });
  const outcome = error === undefined ? ('ready' as const) : ('failed' as const);
  changePreview(context, app, ({ error: _, ...now }) => ({
    ...now,
    ...about,
    outcome,
    tries,
  }));
  const url = previewUrl(requireApp(context.paths, app));
  const isReady = url === null ? 'built, serves nothing' : `ready at ${url}`;
  context.done(`${app}: ${error === undefined ? isReady : 'failed'}`);
  await show(context, app);
}
