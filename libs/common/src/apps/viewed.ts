/**
 * `view/<app>.json`: what members of the group `runner-view` may read of an app, for they may not read
 * `state/`. Derived from the state, rewritten with it, and without anything that is sealed or a secret.
 */
import { isThere, namesIn, readIfThere, removeIfThere } from '../files/read.ts';
import { writeWhole } from '../files/write.ts';
import { unlessFailure } from '../foundation/attempt.ts';
import { Failure, systemCode } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import type { View } from './instance-summary.ts';
import { DEFAULT_RETRIES } from './retries.ts';
import type { AppState } from './state.ts';

/** The fields of a state that hold no secret; a field that is not listed stays in `state/`. */
const SHOWN = [
  ...['version', 'app', 'host', 'repo', 'branch', 'tags', 'paths', 'created_at', 'updated_at'],
  ...['instances', 'failures', 'attempts', 'held', 'last_failure', 'last_rollback_failure'],
  ...['deploying', 'last_checked', 'head', 'check_failed', 'require_checks', 'stopped', 'paused'],
  ...['require_signed', 'accepted', 'restored', 'watch', 'watched', 'migrating', 'migrations'],
  'database',
  'database_backups',
  'contracted',
  'package_age',
  'behind_since',
  'certificates',
  'preview',
  'traffic_hold',
] as const;

/** Writes the view of an app, where the package made the folder. It follows the state: a later write repairs it. */
export function writeView(paths: Paths, app: AppState): void {
  if (!isThere(paths.viewDir)) return;
  const shown = Object.fromEntries(SHOWN.map((field) => [field, app[field]]));
  const down = app.reported?.down;
  const view = {
    ...shown,
    ...(down && { reported: { down } }),
    state: { has_token: Boolean(app.state.repohost_token) },
  };
  const text = `${JSON.stringify(view, null, 2)}\n`;
  unlessFailure(() => writeWhole(paths.view(app.app), text, 0o640, false), undefined);
}

/** Makes the view of an app unreadable, as its state is: what was so before would be taken for what is so now. */
export function spoilView(paths: Paths, app: string): void {
  if (!isThere(paths.view(app)) || !isThere(paths.state(app))) return;
  unlessFailure(() => writeWhole(paths.view(app), '{}\n', 0o640, false), undefined);
}

/** Removes the view of an app that is no longer registered. */
export function removeView(paths: Paths, app: string): void {
  for (const path of [paths.view(app), paths.viewOfJobs(app)])
    unlessFailure(() => removeIfThere(path), undefined);
}

/** Whether this user may read the views, and not the states. */
export function isViewer(paths: Paths): boolean {
  try {
    namesIn(paths.stateDir);
    return false;
  } catch (error) {
    return isDenied(error) && unlessFailure(() => namesIn(paths.viewDir).length >= 0, false);
  }
}

/** For a user who may read neither config.yml nor the releases: what the last `fetch` saw. */
export function viewersView(apps: readonly AppState[], now: Date): View {
  const down = new Map(apps.map(({ app, reported }) => [app, reported?.down ?? []]));
  const runs = (app: string, instance: string) =>
    down.get(app)?.includes(instance) ? false : null;
  return { retries: DEFAULT_RETRIES, now, runs, isClosed: true };
}

/** Reads a state or, where only its view may be read, that. Throws what reading the state threw. */
export function stateOrView(
  paths: Paths,
  app: string,
  limit: number,
  read: typeof readIfThere,
): Buffer | undefined {
  return orViewed(
    paths,
    () => read(paths.state(app), limit),
    () => readIfThere(paths.view(app), limit),
  );
}

/** The names in `state/` or, where only the views may be read, in `view/`. */
export function stateNames(paths: Paths): string[] {
  return orViewed(
    paths,
    () => namesIn(paths.stateDir),
    () => (isThere(paths.viewDir) ? namesIn(paths.viewDir) : undefined),
  ) as string[];
}

/** Where this process was refused the states: a page that asks each second asks for the views first. */
const refused = new WeakSet<Paths>();

/** undefined of `viewed` counts as a refusal too. */
function orViewed<T>(paths: Paths, read: () => T, viewed: () => T | undefined): T {
  const known = refused.has(paths) ? unlessFailure(viewed, undefined) : undefined;
  if (known !== undefined) return known;
  try {
    return read();
  } catch (error) {
    if (!isDenied(error)) throw error;
    const found = unlessFailure(viewed, undefined);
    if (found === undefined) throw error;
    refused.add(paths);
    return found;
  }
}

const isDenied = (error: unknown) =>
  error instanceof Failure && systemCode(error.cause) === 'EACCES';
