/** `runner prune`: where the disk goes, app by app, and removing what nothing needs. */
import { type Disk, diskOf, sizesOf } from '@runner/common/apps/disk';
import { prunePlans } from '@runner/common/apps/old-plans';
import { allNames, requireApp } from '@runner/common/apps/store';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { isThere } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { packMirror, removeStaleLocks } from '../git/mirror-upkeep.ts';
import { pruneFiles } from '../instances/kept-file.ts';
import { underLock } from '../journal/lock.ts';
import { leftOf, prunableOf, removedApps } from './prunable.ts';

/** For counting the files of one app, in milliseconds. */
const COUNTING = 60_000;

/** What was found and removed of one app. Sizes are in bytes, after the removal. */
export interface PrunedApp extends Disk {
  app: string;
  /** false: an app that was removed. */
  registered: boolean;
  freed: number;
  /** With --dry-run, without what git would drop from the mirror. */
  would_free: number;
  /** Below the root; with --dry-run, what would be removed. */
  removed: string[];
  /** Why it was left alone, or null. */
  skipped: string | null;
  /** What could not be done. */
  problems: string[];
}

/** What `runner prune` prints. */
export interface Pruned {
  apps: PrunedApp[];
  /** Bytes of all apps. */
  freed: number;
  would_free: number;
}

export interface PruneRequest extends Server {
  /** Remove nothing. */
  readonly dryRun: boolean;
  /** Remove the app's HOME, too. */
  readonly home?: boolean;
}

/**
 * Prunes one app, or all apps and what removed apps left. Throws `guard_tripped`, `app_not_found`, and
 * for one app `locked`.
 */
export async function pruneApps(request: PruneRequest, app?: string): Promise<Pruned> {
  const { paths } = request;
  if (!request.dryRun) prunePlans(request);
  const registered = allNames(paths);
  const removed = removedApps(paths, registered);
  const apps: PrunedApp[] = [];
  for (const name of app === undefined ? [...registered, ...removed] : [app]) {
    const isRemoved = removed.includes(name);
    try {
      apps.push(await (isRemoved ? pruneRemoved : pruneApp)(request, name));
    } catch (error) {
      if (!(error instanceof Failure) || app !== undefined) throw error;
      apps.push(leftAlone(request, name, !isRemoved, error));
    }
  }
  const sum = (field: 'freed' | 'would_free') => apps.reduce((all, each) => all + each[field], 0);
  return { apps, freed: sum('freed'), would_free: sum('would_free') };
}

function leftAlone(
  { paths }: PruneRequest,
  app: string,
  registered: boolean,
  { code, message }: Failure,
): PrunedApp {
  return {
    app,
    registered,
    freed: 0,
    would_free: 0,
    removed: [],
    skipped: message,
    problems: code === 'locked' ? [] : [`${message} (${code})`],
    ...diskOf(paths, app, COUNTING),
  };
}

function pruneApp(request: PruneRequest, app: string): Promise<PrunedApp> {
  const { io, paths, dryRun, home } = request;
  return underLock({ io, paths, app }, 'prune', async () => {
    const own = paths.app(app);
    const homes = home && isThere(own.home) ? [own.home] : [];
    const pruned = removeAll(request, [...prunableOf(paths, requireApp(paths, app)), ...homes]);
    if (!dryRun) pruneFiles(own);
    const packed = dryRun || !isThere(own.repo) ? undefined : await pack(io, own.repo);
    return {
      app,
      registered: true,
      ...pruned,
      freed: pruned.freed + (packed?.freed ?? 0),
      problems: [...pruned.problems, ...(packed?.problems ?? [])],
      skipped: null,
      ...diskOf(paths, app, COUNTING),
    };
  });
}

async function pruneRemoved(request: PruneRequest, app: string): Promise<PrunedApp> {
  const { io, paths } = request;
  using _lock = requireLock(paths.lock(app), `'${app}'`, 0, holderFor(io, 'prune'));
  // It may have been registered again meanwhile.
  const pruned = removeAll(request, isThere(paths.state(app)) ? [] : leftOf(paths.app(app)));
  const disk = diskOf(paths, app, COUNTING);
  return { app, registered: false, ...pruned, skipped: null, ...disk };
}

function removeAll({ paths, dryRun }: PruneRequest, all: readonly string[]) {
  const sizes = sizesOf(all, COUNTING);
  const sum = (some: readonly string[]) =>
    some.reduce((size, path) => size + (sizes.get(path) ?? 0), 0);
  const below = (some: readonly string[]) => some.map((path) => path.slice(paths.root.length + 1));
  if (dryRun) return { freed: 0, would_free: sum(all), removed: below(all), problems: [] };
  const problems = all.map(removeTree).filter((problem) => problem !== undefined);
  const removed = all.filter((path) => !isThere(path));
  return { freed: sum(removed), would_free: 0, removed: below(removed), problems };
}

async function pack(io: Io, mirror: string): Promise<{ freed: number; problems: string[] }> {
  const size = () => sizesOf([mirror], COUNTING).get(mirror) ?? 0;
  const before = size();
  removeStaleLocks(mirror);
  const problem = await packMirror(io, mirror);
  const [why] = problem?.split('\n') ?? [];
  const problems = why ? [`the mirror could not be packed: ${why}`] : [];
  return { freed: Math.max(0, before - size()), problems };
}
