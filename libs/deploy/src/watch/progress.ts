/** How far a watch is: `apps/<app>/watch.json`, which `runner watch` and `status` show. */
import type { WatchState } from '@runner/common/apps/watch';
import type { WatchPolicy } from '@runner/common/deploy-file/watch';
import { liveHolder } from '@runner/common/files/lock';
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import type { Operation } from '../journal/operation.ts';
import type { WatchFinding } from './sequence.ts';
import type { WatchSource } from './source.ts';

/** What the sources of a watch have found so far. */
export interface WatchProgress
  extends Pick<WatchState, 'version' | 'deploy_id' | 'since' | 'until'> {
  readonly app: string;
  readonly policy: WatchPolicy;
  readonly sources: readonly {
    readonly name: string;
    readonly finding: WatchFinding;
    readonly words: string;
  }[];
  /** Of a canary: the share of the requests that it has, in %. */
  readonly share?: number;
  /** Bytes of memory of the version before, which is kept running; 0: not known; null: none runs. */
  readonly warm_bytes: number | null;
}

/** Limit of the file, in bytes. */
const FILE_MAX = 262_144;

/** Longest time until a new watcher is at work, in ms: a deploy has messages to send first. */
const BEGIN_MAX = 60_000;

/** Whether a process watches a release, or is about to. */
export function hasWatcher(
  { io, paths }: Server,
  app: string,
  { deploy_id, since }: Pick<WatchState, 'deploy_id' | 'since'>,
): boolean {
  if (liveHolder(paths.watchLock(app)) || liveHolder(paths.lock(app))) return true;
  const isNew = io.now().getTime() - Date.parse(since) < BEGIN_MAX;
  return isNew && !readProgress(paths, app, deploy_id);
}

/** That the watcher of a release has ended, and what helps. */
export function lostWords(app: string, version: string): string {
  return `the process that watched ${version} of '${app}' has ended: runner fetch --deploy ${app} starts it again`;
}

/** That a deploy died at its canary, and what helps. */
export function diedWords(app: string, version: string, share?: number): string {
  const has = share === undefined ? 'its share' : `${share} %`;
  return `the deploy of ${version} of '${app}' was killed at its canary: it still has ${has} of the requests; runner cancel ${app} withdraws it`;
}

/** Between two writes of what has been found, in ms; at once if a source finds something else. */
const SHOW_EVERY = 10_000;

/** Returns what is called again and again to write what the sources have found. */
export function progressWriter(
  { io, paths, app: { app }, redact }: Operation,
  about: Omit<WatchProgress, 'app' | 'sources' | 'warm_bytes'>,
  sources: readonly WatchSource[],
): (warmBytes: number | null) => void {
  let [shown, written] = ['', Number.NEGATIVE_INFINITY];
  return (warm_bytes) => {
    const findings = sources.map(({ finding }) => finding).join();
    if (findings === shown && io.elapsed() - written < SHOW_EVERY) return;
    [shown, written] = [findings, io.elapsed()];
    const found = sources.map(({ name, finding, words }) => ({
      name: redact(name),
      finding,
      words: redact(words),
    }));
    const progress: WatchProgress = { app, ...about, sources: found, warm_bytes };
    const text = `${JSON.stringify(progress)}\n`;
    // It only informs: a full disk does not end the watch.
    unlessFailure(() => writeWhole(paths.app(app).watch, text, 0o640, false), undefined);
  };
}

/** Of the watch of a deploy; undefined if nothing is known of it yet. */
export function readProgress(paths: Paths, app: string, deployId: string) {
  const text = unlessFailure(() => readTextIfThere(paths.app(app).watch, FILE_MAX), undefined);
  const progress = jsonObject(text ?? '') as WatchProgress | undefined;
  const isWhole = progress?.deploy_id === deployId && Array.isArray(progress.sources);
  return isWhole ? progress : undefined;
}
