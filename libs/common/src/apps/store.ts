/** The registry: one state file per app. */

import { statSync } from 'node:fs';
import { isClosed, isThere, makeFolder, readIfThere } from '../files/read.ts';
import { readTrusted } from '../files/trusted.ts';
import { writeWhole } from '../files/write.ts';
import { orElse } from '../foundation/attempt.ts';
import { Failure } from '../foundation/failure.ts';
import { appName, isAppName, previewedApp } from '../foundation/names.ts';
import type { Paths } from '../foundation/paths.ts';
import { didYouMean } from '../text/nearest.ts';
import { parseState } from './parse-state.ts';
import type { PreviewMark } from './preview.ts';
import type { AppState } from './state.ts';
import { stateNames, stateOrView, writeView } from './viewed.ts';

/** Bytes; a few kilobytes for most apps, but each kept release has the fingerprints of its secrets. */
const STATE_MAX = 67_108_864;

function readApp(paths: Paths, name: string, read = readIfThere): AppState | undefined {
  const text = stateOrView(paths, name, STATE_MAX, read)?.toString('utf8');
  return text === undefined ? undefined : parseState(name, text, paths.state(name));
}

/** Reads an app; undefined if it is not registered. Throws `name_invalid`, `state_malformed`, … */
export function findApp(paths: Paths, name: string): AppState | undefined {
  return readApp(paths, appName(name));
}

/** Reads an app; an unknown one is the Failure `app_not_found`, also when the name is not valid. */
export function requireApp(paths: Paths, name: string): AppState {
  const app = isAppName(name) ? findApp(paths, name) : undefined;
  if (app) return app;
  if (name === '') throw new Failure('app_not_found', 'the name of the app is empty');
  const shown = name.length > 80 ? `${name.slice(0, 77)}…` : name;
  throw new Failure(
    'app_not_found',
    `no app called '${shown}' is registered on this server${hintFor(paths, name)}`,
  );
}

/** `requireApp` for what a preview cannot have; `instead`: what to do. Throws `name_invalid` for a preview. */
export function requireOwnApp(
  paths: Paths,
  name: string,
  instead: (preview: PreviewMark) => string = ({ of }) => `name ${of}`,
): AppState {
  const app = requireApp(paths, name);
  if (!app.preview || previewedApp(app.app) === undefined) return app;
  const words = `${app.app} is a preview of ${app.preview.of}: ${instead(app.preview)}`;
  throw new Failure('name_invalid', words);
}

/**
 * `requireApp` for a command that opens its token or runs something. Throws `guard_tripped` for a state
 * file of another user, or a root that others may write.
 */
export function requireTrustedApp(paths: Paths, name: string): AppState {
  return (isAppName(name) && readApp(paths, name, trustedIn(paths))) || requireApp(paths, name);
}

function trustedIn({ root }: Paths): typeof readIfThere {
  const folder = orElse(() => statSync(root, { throwIfNoEntry: false }), undefined);
  return (path, limit) => readTrusted(path, limit, root, folder);
}

/** More registered apps than this are not listed in an error. */
const LISTED_MAX = 5;

/** The hint for an unknown app: the nearest name, else all names, or that the root does not exist. */
export function hintFor(paths: Paths, name: string): string {
  const missing = missingRoot(paths);
  if (missing) return `: ${missing}`;
  const names = appNames(paths);
  const near = didYouMean(name, names);
  if (near !== '') return near;
  const isShort = names.length > 0 && names.length <= LISTED_MAX;
  return isShort ? `; registered: ${names.join(', ')}` : '';
}

/** That the root does not exist, in words; undefined if it does. */
export function missingRoot({ root }: Pick<Paths, 'root'>): string | undefined {
  return isThere(root) || isClosed(root) ? undefined : `the root ${root} does not exist`;
}

/** Names of all registered apps, sorted; without previews, which are listed where they are asked for. */
export function appNames(paths: Paths): string[] {
  return allNames(paths).filter((name) => previewedApp(name) === undefined);
}

/** Names of all previews, or of those of one app, sorted. */
export function previewNames(paths: Paths, of?: string): string[] {
  const isWanted = (app: string | undefined) => app !== undefined && (of ?? app) === app;
  return allNames(paths).filter((name) => isWanted(previewedApp(name)));
}

/** Names of apps and previews. */
export function allNames(paths: Paths): string[] {
  return stateNames(paths)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -5))
    .filter(isAppName);
}

/** An app whose state cannot be read. */
export interface UnreadableApp {
  readonly app: string;
  readonly failure: Failure;
}

/**
 * Visits one app after the other, without keeping them; an unreadable one, or one of another user, does
 * not hide the others.
 */
export function visitApps(
  paths: Paths,
  visit: (app: AppState) => void,
  unreadable: (app: UnreadableApp) => void,
  names = appNames(paths),
): void {
  const read = trustedIn(paths);
  for (const name of names) {
    let app: AppState | undefined;
    try {
      app = readApp(paths, name, read);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      unreadable({ app: name, failure: error });
    }
    if (app) visit(app);
  }
}

/** All apps, and those whose state cannot be read. */
export function listApps(
  paths: Paths,
  names = appNames(paths),
): { apps: AppState[]; unreadable: UnreadableApp[] } {
  const apps: AppState[] = [];
  const unreadable: UnreadableApp[] = [];
  visitApps(
    paths,
    (app) => apps.push(app),
    (app) => unreadable.push(app),
    names,
  );
  return { apps, unreadable };
}

/** An app without a history; `at` in ISO 8601. */
export function newApp(
  app: string,
  at: string,
  { state = {}, ...source }: Pick<AppState, 'repo' | 'branch'> & Partial<AppState>,
): AppState {
  return {
    version: 1,
    app,
    ...source,
    created_at: at,
    updated_at: at,
    state,
    instances: {},
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
  };
}

/** Registers an app under the registry's lock. Throws `app_exists`. */
export function createApp(paths: Paths, app: AppState): void {
  if (isThere(paths.state(app.app))) {
    throw new Failure('app_exists', `an app called '${app.app}' is registered already`);
  }
  makeFolder(paths.stateDir, 0o700);
  writeApp(paths, app);
}

/**
 * Writes an app whole, under the registry's lock. Unknown fields survive; in them, integers beyond 2^53
 * lose digits, as in any JSON that JavaScript rewrites.
 */
export function writeApp(paths: Paths, app: AppState): void {
  const written: AppState = isMisread(app) ? { ...app, version: 2 } : app;
  writeWhole(paths.state(app.app), `${JSON.stringify(written, null, 2)}\n`);
  writeView(paths, written);
}

/** Fields that 0.1.0 would pass over, and so deploy what it must not. */
const SINCE_VERSION_2 = [
  'host',
  'tags',
  'paths',
  'require_checks',
  'require_signed',
  'deploy_file',
  'preview',
  'previews',
] as const;

/** Whether 0.1.0 would misread a state: version 2, which it refuses. */
function isMisread(app: AppState): boolean {
  const hasSlots = Object.values(app.instances).some(({ slots }) => slots);
  return (
    hasSlots ||
    app.state.github_app !== undefined ||
    SINCE_VERSION_2.some((field) => app[field] !== undefined)
  );
}
