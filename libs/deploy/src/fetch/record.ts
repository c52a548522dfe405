/** What `fetch` records: a line per app in fetch.log, and in the state what it found out. */
import { dirname } from 'node:path';
import { followedWords } from '@runner/common/apps/following';
import type { View } from '@runner/common/apps/instance-summary';
import type { AppState, CheckFailed } from '@runner/common/apps/state';
import { findApp, requireTrustedApp, writeApp } from '@runner/common/apps/store';
import { type AppSummary, summaryOf } from '@runner/common/apps/summary';
import { spoilView } from '@runner/common/apps/viewed';
import { approvalRuleOf } from '@runner/common/config/approval';
import { readConfig } from '@runner/common/config/file';
import type { RetryPolicy } from '@runner/common/config/settings';
import { makeFolder } from '@runner/common/files/read';
import { appendTo } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { systemWords } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { announcingChange } from '../alerts/announce.ts';
import { behindSince } from '../alerts/behind.ts';
import { changesOf, suspectsOf } from '../alerts/changes.ts';
import type { AlertEvent } from '../alerts/observed.ts';
import { tokenChanges } from '../alerts/token.ts';
import { checkFailed, isRefusal } from '../alerts/unfetched.ts';
import { planFields } from '../approval/admit.ts';
import { whatRuns } from '../instances/running.ts';
import type { FetchResult } from './decide.ts';
import type { FetchRequest, Settled } from './request.ts';

/** What was known of the head of an app when it was asked for, and where; undefined: its state cannot be read. */
export function headAsked(paths: Paths, name: string): string | undefined {
  const app = unlessFailure(() => findApp(paths, name), undefined);
  return app && JSON.stringify([app.head, app.host, app.repo, app.branch, app.tags, app.paths]);
}

/**
 * Records results in the states of their apps, and announces what they change; all at once, since each
 * change syncs the disk. `asked`: what `headAsked` was for each.
 */
export async function recordResults(
  request: FetchRequest,
  results: readonly FetchResult[],
  retries: RetryPolicy,
  asked: ReadonlyMap<string, string | undefined>,
): Promise<Settled[]> {
  const { io, paths, notify, deploy: deploys } = request;
  const apps = results.flatMap(({ app }) => readable(paths, app) ?? []);
  const view: View = { retries, now: io.now(), ...(await whatRuns(request, apps)) };
  const words = await wordsOfDown(request, apps, view);
  return announcingChange(request, 'fetch', (announce) => {
    const all = results.map((result): Settled => {
      const app = readable(paths, result.app);
      // Removed meanwhile, or malformed, which was reported already.
      if (!app) {
        spoilView(paths, result.app);
        return { result, isNews: true };
      }
      const check = failedCheck(app, result, request, view.now.toISOString());
      const summary = summaryOf(paths, { ...app, check_failed: check }, view);
      const waits = ['closed', 'young'].includes(result.result) ? result.text : undefined;
      const tag = result.result.startsWith('tag_') ? result.text : undefined;
      // A deploy that began meanwhile, or another source, knows a newer head.
      const isNew = result.deploy_id !== null || asked.get(app.app) === headAsked(paths, app.app);
      const seen = { notify, deploys, check, summary, waits, tag, now: view.now };
      const restarts = (instance: string) => view.restarts?.(app.app, instance);
      const lastWords = (instance: string) => words.get(`${app.app} ${instance}`) ?? '';
      const found = changesOf(app, {
        ...seen,
        restarts,
        lastWords,
        ...(isNew && { head: result }),
      });
      const isOurs = (change: AlertEvent) => change.event_type === 'DeployFailure';
      const planned = planFields(paths, result.plan);
      for (const change of found.changes)
        announce({ app, change: isOurs(change) ? { ...change, ...planned } : change });
      const shown = withHealth(result, summary);
      const said = [shown.result, shown.error, shown.commit].join(' ');
      writeApp(paths, {
        ...app,
        // Not before what was announced.
        last_checked: io.now().toISOString(),
        check_failed: check,
        ...(isNew && { behind_since: behindSince(app, result, view.now) }),
        ...(isNew && !result.returns && headOf(result)),
        ...(isNew && result.checks && { checks: result.checks }),
        ...(result.package_age && { package_age: result.package_age }),
        reported: { ...found.reported, said },
      });
      const isNews = shown.deploy_id !== null || said !== app.reported?.said;
      return { result: shown, isNews, follows: followedWords(app) };
    });
    for (const change of tokenChanges(paths, apps, view.now)) announce(change);
    return all;
  });
}

/** What instances printed at their end that may be newly down. */
async function wordsOfDown(server: Server, apps: readonly AppState[], view: View) {
  const found = new Map<string, string>();
  for (const app of apps) {
    const restarts = (instance: string) => view.restarts?.(app.app, instance);
    for (const instance of suspectsOf(app, summaryOf(server.paths, app, view), restarts)) {
      const { lastWords } = await import('@runner/deploy/lifecycle/last-words');
      found.set(`${app.app} ${instance}`, await lastWords(server, app.app, instance));
    }
  }
  return found;
}

/** Why a check failed. A commit that was refused stays refused while no one looks again. */
function failedCheck(
  app: AppState,
  { error, text, commit, refusal }: FetchResult,
  { paths, deploy: deploys }: FetchRequest,
  now: string,
): CheckFailed | null {
  if (error) return checkFailed(app, { error, text, commit }, now);
  if (refusal)
    return checkFailed(app, { error: refusal.code, text: refusal.message, ...refusal.facts }, now);
  const { check_failed: failed = null, require_signed: required } = app;
  if (refusal === null || !isRefusal(failed?.error)) return null;
  // Only a plan, which fetch --deploy makes, asks who wrote the commits.
  const mayBe = required || (!deploys && approvalRuleOf(readConfig(paths), app.app).notAuthor);
  const isSame = commit === null || commit === (failed?.commit ?? commit);
  return mayBe && isSame ? failed : null;
}

function readable(paths: Paths, name: string): AppState | undefined {
  return unlessFailure(() => requireTrustedApp(paths, name), undefined);
}

/** A fetch starts nothing, but each one reports an app that does not run. */
function withHealth(result: FetchResult, { state, next }: AppSummary): FetchResult {
  if (result.result !== 'up_to_date' || (state !== 'down' && state !== 'broken')) return result;
  return { ...result, result: 'not_running', text: `up to date, but ${state}: ${next}` };
}

function headOf({ commit, version }: FetchResult): Pick<AppState, 'head' | 'head_version'> {
  if (commit === null) return {};
  return { head: commit, ...(version !== null && { head_version: { commit, version } }) };
}

/** Writes one line to logs/fetch.log. Returns why it could not: a full disk must not stop a deploy. */
export function logResult(paths: Paths, now: Date, { app, text }: FetchResult): string | undefined {
  try {
    makeFolder(dirname(paths.fetchLog));
    appendTo(paths.fetchLog, `${now.toISOString()} ${app}: ${harmlessLine(text)}\n`, 0o640);
    return undefined;
  } catch (error) {
    return `${paths.fetchLog} cannot be written: ${systemWords(error)}`;
  }
}
