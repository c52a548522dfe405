/** Making the previews of an app what the host says they should be. */
import { join } from 'node:path';
import { changeApp } from '@runner/common/apps/change';
import {
  branchKey,
  type PreviewSettings,
  removalOf,
  type SeenPreview,
  type WaitingPreview,
} from '@runner/common/apps/preview';
import { findApp, listApps, previewNames, requireTrustedApp } from '@runner/common/apps/store';
import { holderFor, type Lock, requireLock } from '@runner/common/files/lock';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { HostApi } from '@runner/common/hosts/api';
import { openApi } from '@runner/common/hosts/open';
import { keepUp } from '@runner/deploy/fetch/upkeep';
import { sourceOf } from '@runner/deploy/git/open';
import { listRefs } from '@runner/deploy/git/remote';
import { approvalOf } from '../host/fork.ts';
import { PAGE_LIMIT } from '../host/pages.ts';
import { isOpen, type Listing, openPulls } from '../host/pulls.ts';
import { labelOf, observe, type PreviewAction, reconcile } from '../plan/reconcile.ts';
import { leadToServed, passAs } from './access.ts';
import { changePreview, nameOf, type PreviewContext, type PreviewedApp, show } from './context.ts';
import { deployPreview } from './deploy.ts';
import { registerLost } from './lost.ts';
import { purgePreview, removePreview } from './remove.ts';
import { noteAsked } from './unasked.ts';

/** What was not done, and what waits. */
export interface SyncResult {
  readonly waiting: readonly WaitingPreview[];
  readonly problems: readonly string[];
}

/** The lock of all previews of an app, waited for `wait` seconds. Throws `locked`. */
export function lockPreviews({ io, paths }: PreviewContext, of: string, wait: number): Lock {
  const path = join(paths.locksDir, `${of}.previews`);
  return requireLock(path, `the previews of ${of}`, wait, holderFor(io, 'preview'));
}

/** Throws `locked` if another process is at it. Any other trouble is a problem of the result. */
export async function syncPreviews(context: PreviewContext, of: string): Promise<SyncResult> {
  using _lock = lockPreviews(context, of, 0);
  return await syncLocked(context, of);
}

/** The same under the lock that the caller has. */
export async function syncLocked(context: PreviewContext, of: string): Promise<SyncResult> {
  const { io, paths, signal } = context;
  const problems: string[] = [];
  let failed: Failure | undefined;
  const tried = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      const known = systemFailure(error, 'go on');
      if (!(known instanceof Failure)) throw error;
      problems.push(known.message);
      failed = known;
      return undefined;
    }
  };
  const parent = findApp(paths, of) && requireTrustedApp(paths, of);
  await tried(() => registerLost(context, of, parent));
  const names = previewNames(paths, of);
  const { apps, unreadable } = listApps(paths, names);
  for (const { failure } of unreadable) problems.push(failure.message);
  const existing = apps.flatMap(({ preview }) => preview ?? []);
  const there = existing.filter((preview) => !removalOf({ preview })).map(nameOf);
  passAs(context, of, there);
  for (const name of there) leadToServed(context, name);
  await keepUp(asFetch(context, names), there);
  const asked = parent?.previews && (await tried(() => ask(context, parent as PreviewedApp)));
  if (parent?.previews && !signal.aborted)
    await noteAsked(context, parent as PreviewedApp, asked ? undefined : failed);
  const settings = asked?.app.previews ?? parent?.previews;
  const facts = { settings, candidates: asked?.listing.candidates, existing };
  const { actions, waiting } = reconcile(facts, io.now());
  if (asked && JSON.stringify(waiting) !== JSON.stringify(settings?.waiting))
    changeApp({ io, paths, app: of, command: 'preview' }, (now) =>
      now.previews ? { ...now, previews: { ...now.previews, waiting } } : now,
    );
  for (const { key, why } of waiting) {
    const known = existing.find((each) => each.key === key && each.removed_at !== undefined);
    // Why it stays away is not why it went.
    if (known && known.removed_why !== why)
      changePreview(context, nameOf(known), (now) => ({ ...now, removed_why: why }));
  }
  for (const action of actions) {
    if (signal.aborted) break;
    await tried(() => act(context, asked, action));
  }
  return { waiting, problems };
}

function asFetch({ io, paths, reporter, signal, next }: PreviewContext, apps: readonly string[]) {
  const none = { onResult: async () => {}, onFailure: () => {}, jobs: undefined };
  return { io, paths, reporter, signal, next, apps, deploy: true, notify: false, ...none };
}

interface AskedHost {
  readonly app: PreviewedApp;
  readonly listing: Listing;
  readonly api: HostApi | undefined;
}

/** Asks the host, and keeps what is known of each since when. */
async function ask(context: PreviewContext, parent: PreviewedApp): Promise<AskedHost> {
  const { io, paths } = context;
  const { previews: settings } = parent;
  const isBranches = settings.branches !== undefined;
  const api = isBranches ? undefined : await openApi({ paths, io }, parent, PAGE_LIMIT);
  const listing = api ? await openPulls(api, parent.repo) : await branchesOf(context, parent);
  const seen = observe(listing, settings, io.now());
  if (api)
    for (const candidate of listing.candidates) {
      const known = seen[candidate.key];
      const isAsked = known?.allowed_by !== undefined || known?.looked === candidate.changed;
      const label = labelOf(settings);
      if (!candidate.isFork || !known || isAsked || !candidate.labels?.includes(label)) continue;
      const found = await approvalOf(api, parent.repo, candidate, { seen: known, label }).catch(
        onFailure((failure) => {
          if (failure.code !== 'token_invalid') throw failure;
          return { denied: failure.message };
        }),
      );
      if ('denied' in found) {
        // Of this fork alone, and asked again: the token may get the right.
        seen[candidate.key] = { ...known, refused: found.denied };
        continue;
      }
      const { refused: _, ...rest } = known;
      // What is looked at now counts from now on: a label that comes later is for this commit.
      const host_at = listing.date ?? known.host_at;
      const said =
        'by' in found
          ? { allowed_by: found.by }
          : { refused: found.why, ...(host_at && { host_at }) };
      seen[candidate.key] = { ...rest, ...said, looked: candidate.changed };
    }
  if (JSON.stringify(seen) === JSON.stringify(settings.seen)) return { app: parent, listing, api };
  const app = changeApp({ io, paths, app: parent.app, command: 'preview' }, (now) =>
    now.previews
      ? { ...now, previews: { ...now.previews, seen: merged(seen, now.previews) } }
      : now,
  );
  return { app: app as PreviewedApp, listing, api };
}

/** What an operator asked for meanwhile stays. */
function merged(
  seen: Readonly<Record<string, SeenPreview>>,
  { seen: now = {} }: PreviewSettings,
): Record<string, SeenPreview> {
  const keep = ([key, each]: [string, SeenPreview]): [string, SeenPreview] => {
    const { opened, dropped, commit } = now[key] ?? {};
    if (commit !== each.commit) return [key, each];
    return [key, { ...each, ...(opened && { opened }), ...(dropped && { dropped }) }];
  };
  return Object.fromEntries(Object.entries(seen).map(keep));
}

async function branchesOf(
  { io, paths, signal }: PreviewContext,
  app: PreviewedApp,
): Promise<Listing> {
  const { source } = sourceOf({ io, paths, signal }, app);
  const { refs } = await listRefs(source, ['refs/heads/*']);
  const literal = (text: string) => text.replace(/[^\w/-]/g, '\\$&');
  const pattern = new RegExp(
    `^${(app.previews.branches ?? '').split('*').map(literal).join('.*')}$`,
  );
  const candidates = refs.flatMap(([commit, ref]) => {
    const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : '';
    if (!pattern.test(branch) || branch === app.branch) return [];
    const about = { branch, ref, commit, changed: io.now().toISOString() };
    return [{ key: branchKey(branch), ...about, labels: [], isFork: false }];
  });
  return { candidates, date: undefined };
}

async function act(
  context: PreviewContext,
  asked: AskedHost | undefined,
  action: PreviewAction,
): Promise<void> {
  if (action.do === 'deploy') {
    if (!asked) return;
    const known = findApp(context.paths, nameOf({ of: asked.app.app, key: action.candidate.key }));
    // What was begun to be removed is removed first: its database may be half dropped.
    if (known?.preview && removalOf(known) === 'removing')
      await removePreview(context, known.app, known.preview.removed_why ?? '');
    await deployPreview(context, asked.app, action);
    return;
  }
  const { preview } = action;
  const name = nameOf(preview);
  if (action.do !== 'remove')
    return action.do === 'show' ? show(context, name) : purgePreview(context, name);
  // A list whose entries move while it is read can miss one that is open.
  const { number } = preview;
  if (action.isGone && asked?.api && number !== undefined)
    if (await isOpen(asked.api, asked.app.repo, number)) return;
  await removePreview(context, name, action.why);
}
