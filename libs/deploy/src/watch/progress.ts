/** How far a watch is: `apps/<app>/watch.json`, which `runner watch` and `status` show. */
import type { WatchPolicy } from '@runner/common/deploy-file/watch';
import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';
import type { WatchFinding } from './sequence.ts';

/** What the sources of a watch have found so far. */
export interface WatchProgress {
  readonly app: string;
  readonly version: string;
  readonly deploy_id: string;
  readonly since: string;
  readonly until: string;
  readonly policy: WatchPolicy;
  readonly sources: readonly {
    readonly name: string;
    readonly finding: WatchFinding;
    readonly words: string;
  }[];
  /** Bytes of memory of the version before, which is kept running; null if none is. */
  readonly warm_bytes: number | null;
}

/** Limit of the file, in bytes. */
const FILE_MAX = 262_144;

/** It only informs: a full disk does not end the watch. */
export function writeProgress(paths: Paths, progress: WatchProgress): void {
  const text = `${JSON.stringify(progress)}\n`;
  unlessFailure(() => writeWhole(paths.app(progress.app).watch, text, 0o640, false), undefined);
}

/** Of the watch of a deploy; undefined if nothing is known of it yet. */
export function readProgress(paths: Paths, app: string, deployId: string) {
  const text = unlessFailure(() => readTextIfThere(paths.app(app).watch, FILE_MAX), undefined);
  const progress = jsonObject(text ?? '') as WatchProgress | undefined;
  const isWhole = progress?.deploy_id === deployId && Array.isArray(progress.sources);
  return isWhole ? progress : undefined;
}
