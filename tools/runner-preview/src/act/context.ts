/** What the steps of previews have at hand, and what they all do. */
import { changeApp } from '@runner/common/apps/change';
import { type PreviewMark, type PreviewSettings, removalOf } from '@runner/common/apps/preview';
import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import { completeEvent } from '@runner/common/audit/complete';
import type { Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';
import { openApi } from '@runner/common/hosts/open';
import { recordAnyway } from '@runner/deploy/journal/events';
import type { Reporter } from '@runner/deploy/report/reporter';
import { PAGE_LIMIT } from '../host/pages.ts';
import { showPreview } from '../host/show.ts';
import { previewUrl } from '../plan/address.ts';
import { dueOf } from '../plan/reconcile.ts';

/** Who works on previews. */
export interface PreviewContext extends Server {
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  next(): AbortSignal;
  /** `fetch`, or `manual` if an operator asked for it. */
  readonly trigger: string;
  /** Gets a line for each preview that changed. */
  done(line: string): void;
}

export type PreviewedApp = AppState & { readonly previews: PreviewSettings };

export const nameOf = ({ of, key }: Pick<PreviewMark, 'of' | 'key'>) => `${of}--${key}`;

export function changePreview(
  { io, paths }: Server,
  app: string,
  change: (preview: PreviewMark) => PreviewMark,
): PreviewMark {
  const changed = changeApp({ io, paths, app, command: 'preview' }, (state) => ({
    ...state,
    preview: change(state.preview as PreviewMark),
  }));
  return changed.preview as PreviewMark;
}

export function recordPreview(
  { io, paths, reporter, trigger }: PreviewContext,
  event_type: 'PreviewReady' | 'PreviewFailed' | 'PreviewRemoved',
  { preview, ...about }: { readonly preview: PreviewMark; error?: string; reason?: string },
): void {
  const { of: preview_of, commit, domain } = preview;
  const version = commit.slice(0, 12);
  const common = { project: nameOf(preview), version, commit, domain, preview_of, trigger };
  const event = { event_type, ...common, ...about, user: initiatorOf(io, trigger) };
  recordAnyway({ paths, reporter }, [completeEvent(event, io)]);
}

/** Brings what the host shows in line. Throws what a later attempt may get over. */
export async function show(context: PreviewContext, name: string): Promise<void> {
  const { io, paths } = context;
  const known = requireApp(paths, name) as AppState & { preview: PreviewMark };
  const { app, preview, host, repo } = known;
  const due = dueOf(preview);
  if (due === undefined || due === preview.shown || !findApp(paths, preview.of)) return;
  const api = await openApi(
    { paths, io },
    { app, repo, ...(host !== undefined && { host }) },
    PAGE_LIMIT,
  );
  const state = removalOf(known) ? 'removed' : (preview.outcome ?? 'failed');
  const { comment, refused } = await showPreview(
    { api, repo },
    { app, preview, url: previewUrl(known), state },
  );
  for (const each of refused) context.reporter.note(`${app}: ${each}`);
  const unshown = refused.join('; ');
  changePreview(context, app, ({ unshown: _, ...now }) => {
    return { ...now, ...(comment && { comment }), ...(unshown && { unshown }), shown: due };
  });
}
