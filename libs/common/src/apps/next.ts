/** When the next automatic deploy of an app happens, in words. */

import { inWords } from '../text/time.ts';
import { followedWords, newsWords } from './following.ts';
import type { InstanceSummary, View } from './instance-summary.ts';
import { pauseOf, shortTime } from './operator.ts';
import { knownAge } from './package-age.ts';
import { removalOf, removalWords } from './preview.ts';
import { operationWord } from './progress.ts';
import { ranWords, returnCommand, returnsOf } from './restored.ts';
import { leftAlone, retryWait } from './retries.ts';
import { leftMigration } from './schema-way.ts';
import type { AppState } from './state.ts';
import { headFailures, type StateWord } from './state-word.ts';
import { versionArgument } from './versions.ts';

/** The command that restarts an instance. */
function startAgain(app: string, each: InstanceSummary, among: number): string {
  const { instance, current, previous, broken, gone, restored } = each;
  const only = among > 1 ? ` --instance ${instance}` : '';
  // The newest commit may be on hold.
  if (!current)
    return restored ? `${returnCommand(app, [restored])}${only}` : `runner deploy ${app}`;
  if (gone) return `${returnCommand(app, [current])}${only}`;
  // With traffic its process may live on, without its socket.
  if (!broken) return `runner ${each.live ? 'restart' : 'start'} ${app}${only}`;
  return `runner rollback ${app} --to ${versionArgument(current, previous)}${only}`;
}

/** The commands that start what is broken or down. */
export function repairsOf(app: string, instances: readonly InstanceSummary[]): string[] {
  const bad = instances.filter(
    ({ broken, running, stopped }) => broken || (running === false && !stopped),
  );
  return bad.map((each) => startAgain(app, each, instances.length));
}

/** The options of `runner edit` that let the commits of an app be fetched again. */
const EDITS: Readonly<Record<string, string>> = {
  token_invalid: '--token-file <FILE>',
  branch_not_found: '--branch <BRANCH>',
  repo_not_found: '<--repo <OWNER/NAME>|--token-file <FILE>>',
};

/** The same of an app that acts as a GitHub App, which may not be installed for its repository. */
const APP_EDITS: typeof EDITS = {
  ...EDITS,
  token_invalid: '--app-key-file <FILE>',
  repo_not_found: '',
};

/** The command that changes what the code host refused with this code; undefined if none does: a preview has no own. */
export function editFor(
  { app, state, preview }: AppState,
  code: string | undefined,
): string | undefined {
  const option = (state.github_app ? APP_EDITS : EDITS)[code ?? ''];
  return option && !preview ? `runner edit ${app} ${option}` : undefined;
}

/** What brings back an app that ran before a restore. */
function restoredNext(app: AppState, state: StateWord, max: number): string | undefined {
  const { app: name, restored } = app;
  const ran = Object.values(restored?.instances ?? {});
  const due = returnsOf(app);
  if (ran.length === 0) return undefined;
  if (state === 'stopped') return `nothing until ${returnCommand(name, ran)}`;
  if (state !== 'down' || due.length === 0) return undefined;
  const failed = restored?.failures ?? 0;
  if (failed >= max)
    return `${ranWords(due)} ran before the restore and failed here ${failed} times; run: ${returnCommand(name, due)}`;
  return `${ranWords(due)} ran before the restore and is not deployed here yet; run: runner fetch ${name} --deploy`;
}

/** After an operation whose process died. */
export const CLEANS_UP = 'the next deploy, rollback or fetch --deploy cleans up first';

export function nextOf(
  app: AppState,
  state: StateWord,
  instances: readonly InstanceSummary[],
  { retries, now }: View,
): string {
  const { app: name, attempts, held } = app;
  const news = newsWords(app);
  const failures = headFailures(app);
  const retry = () => {
    const wait = retryWait(app, attempts?.commit ?? '', retries, now);
    if (wait === 0) return 'the next fetch --deploy tries again';
    return `fetch --deploy waits, retry in ${inWords(wait)}`;
  };
  if (app.preview && removalOf(app)) return `it ${removalWords(app.preview)}`;
  if (app.preview && (state === 'failing' || state === 'blocked'))
    return app.preview.tries > 0
      ? 'the next fetch --deploy tries again'
      : `the next push; sooner: runner preview open ${app.preview.of} ${app.preview.key}`;
  const restored = restoredNext(app, state, retries.max);
  if (restored) return restored;
  const left = leftMigration(app);
  if (left && state !== 'deploying') return `${left.words}: ${left.hint}`;
  switch (keptBy(app, state, pauseOf(app, now)) ?? state) {
    case 'deploying':
      return `a ${operationWord(app.deploying ?? {})} is running`;
    case 'interrupted':
      if (!app.deploying) return retry();
      return CLEANS_UP;
    case 'broken':
    case 'down':
      return `not restarted automatically; run: ${repairsOf(name, instances).join('; ')}`;
    case 'blocked':
      return `blocked until the next ${news}; or run: runner deploy ${name}`;
    case 'stale':
      if (app.check_failed?.commit !== undefined)
        return `nothing until the next ${news}: ${app.check_failed.message}`;
      return `nothing new is deployed until fetch can check ${followedWords(app)} again`;
    case 'failing': {
      const used = failures
        ? `${failures.count} of ${retries.max} attempts used; `
        : 'the failure does not count: ';
      return `${used}${retry()}`;
    }
    case 'stopped':
      return `nothing until runner start ${name}`;
    case 'paused': {
      const { until } = app.paused ?? {};
      return until
        ? `paused until ${shortTime(until)}; sooner: runner resume ${name}`
        : `paused until runner resume ${name}`;
    }
    case 'held':
      if (waits(app, retries.max)) break;
      return `held until the next ${news}: ${held?.reason}`;
    case 'new':
      return `the next fetch --deploy; or run: runner deploy ${name}`;
  }
  const young = knownAge(app.package_age, app.head, now)?.waits;
  if (young !== undefined && leftAlone(app, app.head ?? '', retries.max) === undefined)
    return `${app.head?.slice(0, 12)} waits${young}`;
  return waits(app, retries.max)
    ? `the next fetch --deploy deploys commit ${app.head?.slice(0, 12)}`
    : `the next ${news}`;
}

/** What keeps an app whose deploy failed from the next one, whatever comes after that. */
export function keptBy(
  { stopped, deploying }: Partial<Pick<AppState, 'stopped' | 'deploying'>>,
  state: StateWord,
  pause: unknown,
): StateWord | undefined {
  const hasFailed = ['failing', 'blocked', 'interrupted'].includes(state) && !deploying;
  if (!hasFailed) return undefined;
  if (stopped) return 'stopped';
  return pause ? 'paused' : undefined;
}

/** Whether a commit that was seen is still to be deployed; with `paths` it may change nothing of the app. */
function waits(app: AppState, max: number): boolean {
  return app.head !== undefined && !app.paths && leftAlone(app, app.head, max) === undefined;
}
