/** What the head of a branch means for an app. */

import type { CommitChecks } from '@runner/common/apps/checks';
import { pauseOf, pauseWords, stoppedWords } from '@runner/common/apps/operator';
import { knownAge, type PackageAge } from '@runner/common/apps/package-age';
import { ranWords, returnsOf } from '@runner/common/apps/restored';
import { leftAlone, retryWait } from '@runner/common/apps/retries';
import type { AppState } from '@runner/common/apps/state';
import type { DeployPolicy } from '@runner/common/config/settings';
import { opensAt, untilWords } from '@runner/common/config/windows';
import type { Failure } from '@runner/common/foundation/failure';
import { inWords } from '@runner/common/text/time';
import type { HeadFound } from '../alerts/observed.ts';
import { verdictOf } from '../checks/verdict.ts';
import type { DeployOutcome } from '../pipeline/outcome.ts';
import type { Same } from './follow.ts';

/** What `fetch` found and did for an app; printed as one line. */
export interface FetchResult extends HeadFound {
  app: string;
  result:
    | 'up_to_date'
    /** The tag that is active was moved or deleted on the host: it stays. */
    | 'tag_moved'
    | 'tag_deleted'
    /** Its head is active, but an instance is down or broken. */
    | 'not_running'
    | 'new_commit'
    /** What ran before a restore has to be deployed here. */
    | 'restored'
    | 'blocked'
    | 'waiting'
    | 'held'
    | 'checking'
    | 'checks_failed'
    | 'young'
    | 'approval'
    | 'stopped'
    | 'paused'
    | 'closed'
    | 'skipped'
    | 'error'
    | DeployOutcome['result'];
  /** Code of the error, which has kept the commit from being deployed or even found; else null. */
  error: string | null;
  /** Of a deploy that failed: the text of its error. */
  failure?: string;
  deploy_id: string | null;
  /** What the result means for the exit status. */
  status: number;
  /** What the host said about the commit's checks, which passed if the result is `new_commit`. */
  checks?: CommitChecks;
  /** What was found out about its packages; they are old enough if the result is `new_commit`. */
  package_age?: PackageAge;
  /** Why the head of an app that was refused still is; null: it is no longer; undefined: no one looked. */
  refusal?: Failure | null | undefined;
  /** The plan of its deploy, which has its approvals. */
  plan?: string;
}

/** A result with null for each field not given, and status 0. */
export function fetchResult(
  app: string,
  result: FetchResult['result'],
  text: string,
  more: Partial<FetchResult> = {},
): FetchResult {
  const empty = { commit: null, version: null, error: null, deploy_id: null, status: 0 };
  return { app, result, text, ...empty, ...more };
}

/** A head, and which commits are the same to the app; undefined: only itself. */
export interface FoundCommit {
  readonly commit: string;
  readonly version: string;
  readonly same?: Same | undefined;
  /** What the host said about its checks; undefined: it was not asked. */
  readonly checks?: CommitChecks | undefined;
}

/**
 * What to do about an app that was restored, whatever its head is; undefined if all of it was deployed
 * here. It ran: neither a hold nor a block, pause, window or check of the head concerns it.
 */
export function decideRestored(
  app: AppState,
  policy: DeployPolicy,
  now: Date,
): FetchResult | undefined {
  const due = returnsOf(app);
  const [first] = due;
  if (!first) return undefined;
  const { commit, version } = first;
  const result = (kind: FetchResult['result'], text: string) =>
    fetchResult(app.app, kind, `${ranWords(due)} ran before the restore: ${text}`, {
      commit,
      version,
      returns: true,
    });
  if (app.deploying) return result('restored', 'to be deployed');
  const failed = app.restored?.failures ?? 0;
  if (failed >= policy.max) return result('blocked', `blocked, it failed here ${failed} times`);
  const wait = Math.max(...due.map((each) => retryWait(app, each.commit, policy, now)));
  return wait > 0
    ? result('waiting', `retry in ${inWords(wait)}`)
    : result('restored', 'to be deployed');
}

/** Decides what to do about a head. Block and hold are about one commit: another one ends both. */
export function decide(
  app: AppState,
  { commit, version, same, checks }: FoundCommit,
  policy: DeployPolicy,
  now: Date,
): FetchResult {
  const result = (kind: FetchResult['result'], text: string) =>
    fetchResult(app.app, kind, text, { commit, version, ...(checks && { checks }) });
  // A deploy that was killed has to be cleaned up, whatever the head is.
  if (app.deploying) return result('new_commit', `new commit ${version}`);
  const why = leftAlone(app, commit, policy.max, same);
  if (why === 'active') return result('up_to_date', upToDate(app, commit, version));
  if (why === 'blocked') {
    const count = app.failures?.count;
    const times = count === 1 ? '1 time' : `${count} times`;
    return result('blocked', `deploy blocked, same commit failed ${times}`);
  }
  if (why === 'held' && app.held) {
    const what = app.held.reason.replace(' was rolled back by hand', ' was rolled back');
    return result('held', `on hold: ${what}`);
  }
  if (app.stopped) return result('stopped', `${version} waits: ${stoppedWords(app.stopped)}`);
  const pause = pauseOf(app, now);
  if (pause) return result('paused', `${version} waits: ${pauseWords(pause)}`);
  const opens = opensAt(policy.windows, app.app, now);
  if (opens) return result('closed', `${version} waits ${untilWords(opens)}`);
  const wait = retryWait(app, commit, policy, now);
  if (wait > 0) return result('waiting', `retry in ${inWords(wait)}`);
  if (app.require_checks) {
    // A commit that was pushed since the host was asked has to wait for the next fetch.
    const known = checks?.commit === commit ? checks : { commit, checks: [] };
    const verdict = verdictOf(app.require_checks, known);
    if (verdict.result !== 'passed') return result(verdict.result, verdict.text);
  }
  const young = knownAge(app.package_age, commit, now)?.waits;
  if (young !== undefined) return result('young', `${version} waits${young}`);
  return result('new_commit', `new commit ${version}`);
}

function upToDate({ instances, paths }: AppState, commit: string, version: string): string {
  const runs = Object.values(instances).some(({ current }) => current?.commit === commit);
  if (runs || !paths) return 'up to date';
  return `up to date: ${version} changes nothing in ${paths.join(', ')}`;
}
