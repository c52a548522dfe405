/** What `fetch` records: a line per app in fetch.log, and in the state when it was checked. */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeRegistry } from '@runner/common/apps/change';
import type { AppState, CheckFailed } from '@runner/common/apps/state';
import { requireApp, writeApp } from '@runner/common/apps/store';
import { makeFolder } from '@runner/common/files/read';
import { Failure, systemWords } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';
import type { FetchResult } from './decide.ts';

/** Limit of an error in the state, in code points. */
const MESSAGE_MAX = 500;

/** Records when these apps were checked, and what failed; in one change, since each one syncs the disk. */
export function recordChecks(
  { io, paths }: { readonly io: Io; readonly paths: Paths },
  apps: readonly string[],
  results: ReadonlyMap<string, FetchResult>,
): void {
  if (apps.length === 0) return;
  const now = io.now().toISOString();
  changeRegistry(paths, io, 'fetch', () => {
    for (const name of apps) {
      try {
        const app = requireApp(paths, name);
        const check_failed = checkFailed(app, results.get(name), now);
        writeApp(paths, { ...app, last_checked: now, check_failed });
      } catch (error) {
        // Removed meanwhile, or malformed, which was reported already.
        if (!(error instanceof Failure)) throw error;
      }
    }
  });
}

/** An error dates from the first of consecutive ones with its code. */
function checkFailed(
  { check_failed: before }: AppState,
  result: FetchResult | undefined,
  now: string,
): CheckFailed | null {
  if (!result?.error) return null;
  const { error, text } = result;
  const since = before?.error === error ? before.since : now;
  return { since, error, message: cutCodePoints(harmlessLine(text), MESSAGE_MAX) };
}

// A pipe without a reader must not stop the deploys, nor a link lead out of the root.
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const APPENDING = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** Writes one line to logs/fetch.log. Returns why it could not: a full disk must not stop a deploy. */
export function logResult(paths: Paths, now: Date, { app, text }: FetchResult): string | undefined {
  try {
    makeFolder(dirname(paths.fetchLog));
    const fd = openSync(paths.fetchLog, APPENDING, 0o640);
    try {
      appendFileSync(fd, `${now.toISOString()} ${app}: ${harmlessLine(text)}\n`);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    return `${paths.fetchLog} cannot be written: ${systemWords(error)}`;
  }
}
