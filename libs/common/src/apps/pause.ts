/** Pausing and resuming the automatic deploys of apps. */

import { invalidValue, notProvided, usage } from '../foundation/failure.ts';
import type { Paths, Server } from '../foundation/paths.ts';
import { initiatorOf } from '../foundation/user.ts';
import { durationOf, timeOfIso } from '../text/time.ts';
import { changeRegistry } from './change.ts';
import type { Paused } from './operator.ts';
import type { PreviewMark } from './preview.ts';
import type { AppState } from './state.ts';
import { appNames, requireApp, requireOwnApp, writeApp } from './store.ts';

/** What `pause` and `resume` print. */
export interface PauseResult {
  result: 'paused' | 'resumed' | 'unchanged';
  apps: string[];
  /** The pause; null after `resume`. */
  paused: Paused | null;
}

/** The apps that a command names: one, or all with `--all`. Throws `usage`, `app_not_found`. */
export function namedApps(paths: Paths, app: string | undefined, all: boolean): string[] {
  if (all && app !== undefined) throw usage("the argument '--all' cannot be used with '[APP]'");
  if (all) return appNames(paths);
  if (app === undefined) throw notProvided('<APP|--all>');
  const instead = ({ of, key }: PreviewMark) =>
    `a pause of ${of} does not concern it either: runner stop ${of}--${key}`;
  return [requireOwnApp(paths, app, instead).app];
}

/** A later year has more digits. */
const LAST = Date.UTC(9999, 11, 31);

/** When a pause ends: `--until` is a time in ISO 8601, UTC without a zone, `--for` a length of time. */
export function endOfPause(
  now: Date,
  until: string | undefined,
  length: string | undefined,
): string | null {
  const bad = (name: string, text: string, wanted: string) =>
    invalidValue(text.slice(0, 80), `--${name}`, `it must be ${wanted}`);
  if (until !== undefined) {
    const time = timeOfIso(until);
    if (Number.isNaN(time))
      throw bad('until <TIME>', until, 'a time such as 2026-12-24T18:00+01:00');
    if (time <= now.getTime()) throw bad('until <TIME>', until, 'in the future');
    return new Date(time).toISOString();
  }
  if (length === undefined) return null;
  const days = /^(\d{1,4})d$/.exec(length);
  const time = days ? Number(days[1]) * 86_400_000 : durationOf(length);
  const end = now.getTime() + (time ?? 0);
  if (!time || end > LAST) throw bad('for <TIME>', length, 'a time such as 30m, 4h, 2d');
  return new Date(end).toISOString();
}

export function pauseApps(
  { io, paths }: Server,
  apps: readonly string[],
  until: string | null,
  reason: string | null,
): PauseResult {
  const paused = { since: io.now().toISOString(), by: initiatorOf(io, 'manual'), until, reason };
  changeEach({ io, paths }, 'pause', apps, (app) => ({ ...app, paused }));
  return { result: 'paused', apps: [...apps], paused };
}

/** Ends the pause of apps; those that are not paused stay as they are. */
export function resumeApps({ io, paths }: Server, apps: readonly string[]): PauseResult {
  const resumed: string[] = [];
  changeEach({ io, paths }, 'resume', apps, (app) => {
    if (!app.paused) return undefined;
    resumed.push(app.app);
    return { ...app, paused: null };
  });
  return { result: resumed.length > 0 ? 'resumed' : 'unchanged', apps: resumed, paused: null };
}

function changeEach(
  { io, paths }: Server,
  command: string,
  apps: readonly string[],
  change: (app: AppState) => AppState | undefined,
): void {
  changeRegistry({ io, paths, command }, () => {
    for (const name of apps) {
      const changed = change(requireApp(paths, name));
      if (changed) writeApp(paths, { ...changed, updated_at: io.now().toISOString() });
    }
  });
}
