/** When the end of a token is announced: once for all apps that share it. */
import type { AppState } from '@runner/common/apps/state';
import { listApps, writeApp } from '@runner/common/apps/store';
import type { Paths } from '@runner/common/foundation/paths';
import { listed } from '@runner/common/text/words';
import { activeFile } from '../instances/target.ts';
import type { AppChange } from './announce.ts';
import { endingAt, type NearEnd } from './ending.ts';
import type { AlertEvent } from './observed.ts';

/** Days before the end of a token at which it is announced. */
const STAGES = [1, 3, 7, 14];

const NAMES_MAX = 4;

/**
 * Announces the end of the tokens of these apps at each stage, once for each token, and once more when
 * all apps that shared it have another one. Writes to the states what was announced, once the next one is
 * asked for: under the registry's lock.
 */
export function* tokenChanges(
  paths: Paths,
  apps: readonly AppState[],
  now: Date,
): Generator<AppChange> {
  if (!apps.some((app) => isNews(app, now))) return;
  const all = listApps(paths).apps;
  const names = new Set(apps.map(({ app }) => app));
  const done = new Set<string>();
  for (const app of all) {
    if (!names.has(app.app) || done.has(app.app) || !isNews(app, now)) continue;
    const ending = endingAt(app.state.repohost_token_ends, now, STAGES);
    const sharing = all.filter((other) => sharesToken(app, other, !ending));
    for (const each of sharing) done.add(each.app);
    yield* ending ? ended(paths, sharing, ending) : renewed(paths, sharing);
  }
}

/** Whether an app's token has reached a stage, or is another one than the one announced. */
function isNews({ state, reported }: AppState, now: Date): boolean {
  const ends = state.repohost_token_ends;
  const known = reported?.token;
  const ending = endingAt(ends, now, STAGES);
  if (ending) return known === undefined || known.ends !== ends || ending.days < known.days;
  // The same token does not end later because a clock was set back.
  return known !== undefined && known.ends !== ends;
}

/** Its token as it was last tested or, with `isAnnounced`, as its end was announced. */
function tokenIn({ state, reported }: AppState, isAnnounced: boolean) {
  if (isAnnounced) return reported?.token;
  return { fingerprint: state.repohost_token_fingerprint, ends: state.repohost_token_ends };
}

function sharesToken(app: AppState, other: AppState, isAnnounced: boolean): boolean {
  if (app.app === other.app) return true;
  const [own, its] = [tokenIn(app, isAnnounced), tokenIn(other, isAnnounced)];
  const isKnown = own?.fingerprint !== undefined;
  return isKnown && own.fingerprint === its?.fingerprint && own.ends === its?.ends;
}

function* ended(paths: Paths, apps: readonly AppState[], { days, words }: NearEnd) {
  const { repohost_token_ends: ends = '', repohost_token_fingerprint: fingerprint } =
    apps[0]?.state ?? {};
  const known = apps.some(
    ({ reported }) => reported?.token?.ends === ends && reported.token.days <= days,
  );
  const token = { ends, days, ...(fingerprint !== undefined && { fingerprint }) };
  const names = apps.map(({ app }) => app);
  const reason = `the token of ${listed(names, NAMES_MAX)} ${words}: ${renewal(names)}`;
  const ending = { event_type: 'TokenEnding', reason, expires_at: ends } as const;
  // An app that began to share it since then is not news.
  if (!known) yield changeOf(paths, apps, { ...ending, ...tokenOf(token) });
  for (const app of apps) writeApp(paths, { ...app, reported: { ...app.reported, token } });
}

/** What to do about a token that these apps share, as it is typed. */
export function renewal([first, ...others]: readonly string[]): string {
  const rest = others.length > 0 ? `, then runner edit <APP> --token-from ${first}` : '';
  return `create a new one and run runner edit ${first} --token -${rest}`;
}

/** Nothing, as long as one of the apps still has the token whose expiry was announced. */
function* renewed(paths: Paths, apps: readonly AppState[]) {
  const still = apps.some(
    ({ reported, state }) => reported?.token?.ends === state.repohost_token_ends,
  );
  if (still) return;
  const token = apps[0]?.reported?.token;
  const ends = apps[0]?.state.repohost_token_ends;
  const what = ends === undefined ? 'was replaced' : `was replaced; the new one expires at ${ends}`;
  const names = apps.map(({ app }) => app);
  const reason = `the token of ${listed(names, NAMES_MAX)} ${what}`;
  yield changeOf(paths, apps, { event_type: 'TokenRenewed', reason, ...tokenOf(token) });
  for (const app of apps) {
    const { token: _, ...reported } = app.reported ?? {};
    writeApp(paths, { ...app, reported });
  }
}

const tokenOf = (token: { fingerprint?: string } | undefined) =>
  token?.fingerprint === undefined ? {} : { fingerprint: token.fingerprint };

/** One record for all apps, of one that wants to be notified. */
function changeOf(paths: Paths, apps: readonly AppState[], change: AlertEvent): AppChange {
  const app = apps.find((each) => activeFile(paths, each)?.notify !== 'none') ?? apps[0];
  const names = apps.map((each) => each.app);
  const projects = names.length > 1 ? { projects: names } : {};
  return { app: app as AppState, change: { ...change, ...projects } };
}
