/**
 * `runner fetch`: asks the code host for the head of each app's branch, a few at a time, decides
 * what that means, and deploys what is new if asked to.
 */
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries } from '@runner/common/config/settings';
import { holderOf } from '@runner/common/files/lock';
import { Failure, systemFailure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { sourceOf } from '../git/open.ts';
import type { ResolvedRef } from '../git/ref.ts';
import { remoteHead, versionOf } from '../git/remote.ts';
import { deploy } from '../pipeline/deploy.ts';
import type { DeployOutcome } from '../pipeline/outcome.ts';
import type { Reporter } from '../report/reporter.ts';
import { decide, type FetchResult, fetchResult } from './decide.ts';
import { logResult, recordChecks } from './record.ts';

/** Concurrent requests to the code host; more of them count as abuse. */
const AT_ONCE = 4;

/** Which apps to check, and whether to deploy what is new. */
export interface FetchRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly apps: readonly string[];
  readonly deploy: boolean;
  readonly notify: boolean;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** Called with each result as it comes in. */
  onResult(result: FetchResult): Promise<void>;
  /** Called with the outcome of a failed deploy, for the end of its output. */
  onFailure(outcome: DeployOutcome): void;
}

/** Checks every app, then deploys one after the other. Returns the worst status. */
export async function fetchApps(request: FetchRequest): Promise<number> {
  const { io, paths, apps, signal, reporter } = request;
  const retries = maxDeployRetries(readConfig(paths));
  let worst = 0;
  let isLogBroken = false;
  const conclude = async (result: FetchResult) => {
    const problem = logResult(paths, io.now(), result);
    if (problem && !isLogBroken) reporter.note(problem);
    isLogBroken ||= problem !== undefined;
    worst = Math.max(worst, result.status, problem ? 1 : 0);
    await request.onResult(result);
  };
  const results = new Map<string, FetchResult>();
  const isDue = ({ result }: FetchResult) => result === 'new_commit' && request.deploy;
  const queue = apps[Symbol.iterator]();
  const work = async () => {
    for (const name of queue) {
      if (signal.aborted) return;
      const result = await check(request, name, retries);
      results.set(name, result);
      if (!isDue(result)) await conclude(result);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (!signal.aborted) recordChecks(request, apps, results);
  const due = [...results.values()].filter(isDue).sort((a, b) => (a.app < b.app ? -1 : 1));
  for (const result of due) {
    if (!signal.aborted) await conclude(await deployOne(request, result, retries));
  }
  return worst;
}

async function check(request: FetchRequest, name: string, retries: number): Promise<FetchResult> {
  try {
    const app = requireApp(request.paths, name);
    const { source } = sourceOf(request, app);
    const { commit, tag } = await remoteHead(source);
    return withHealth(request.paths, app, decide(app, commit, versionOf(commit, tag), retries));
  } catch (error) {
    const { code, message } = asFailure(request, error);
    const text = code === 'network_error' ? `network error: ${message}` : message;
    return fetchResult(name, 'error', text, { error: code, status: 1 });
  }
}

/** One app must not stop the others: even a bug is reported as its error, with the stack. */
function asFailure({ reporter }: FetchRequest, error: unknown): { code: string; message: string } {
  const known = systemFailure(error, 'go on');
  if (known instanceof Failure) return known;
  reporter.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { code: 'bug', message: 'this is a bug in runner' };
}

/** A fetch starts nothing, but each one reports an app that does not run. */
function withHealth(paths: Paths, app: AppState, result: FetchResult): FetchResult {
  if (result.result !== 'up_to_date') return result;
  // The number of retries has no influence on what runs.
  const { state, next } = summaryOf(paths, app, 0);
  if (state !== 'down' && state !== 'broken') return result;
  return { ...result, result: 'not_running', text: `up to date, but ${state}: ${next}` };
}

/** Under the lock another decision was made than before it. */
class Overtaken extends Error {
  readonly result: FetchResult;

  constructor(result: FetchResult) {
    super(result.text);
    this.result = result;
  }
}

async function deployOne(
  request: FetchRequest,
  { app, commit, version }: FetchResult,
  retries: number,
): Promise<FetchResult> {
  const { io, paths, notify, reporter, signal } = request;
  // Another fetch may have deployed it meanwhile, or a recovery changed the state.
  const confirm = (now: AppState, wanted: ResolvedRef) => {
    const again = decide(now, wanted.commit, wanted.version, retries);
    if (again.result !== 'new_commit') throw new Overtaken(again);
  };
  try {
    const options = { trigger: 'fetch' as const, notify, reporter, signal, confirm };
    const outcome = await deploy({ io, paths, app, ...options });
    if (outcome.result !== 'deployed') request.onFailure(outcome);
    return resultOf(paths, outcome);
  } catch (error) {
    if (error instanceof Overtaken) return error.result;
    const { code, message } = asFailure(request, error);
    const about = { commit, version };
    if (code === 'locked') {
      const { deploy_id: id, command = 'another command' } = holderOf(paths.lock(app));
      const holder = typeof id === 'string' ? `deploy ${id}` : command;
      return fetchResult(app, 'skipped', `skipped: ${holder} running`, about);
    }
    return fetchResult(app, 'error', message, { ...about, error: code, status: 1 });
  }
}

function resultOf(paths: Paths, outcome: DeployOutcome): FetchResult {
  const { app, result, commit, version, deploy_id, stage } = outcome;
  const about = { commit, version, deploy_id };
  if (result === 'deployed') return fetchResult(app, result, `deployed ${version}`, about);
  const text = `deploy of ${version} failed at ${stage}, ${whatRuns(requireApp(paths, app), outcome)}`;
  return fetchResult(app, result, text, { ...about, status: outcome.rollback_error ? 3 : 1 });
}

/** What is active after a failed deploy; for each instance if there are several. */
function whatRuns({ instances }: AppState, { active_version: active }: DeployOutcome): string {
  const all = Object.entries(instances);
  if (all.length < 2) return active ? `${active} is active` : 'nothing is active';
  return all
    .map(([name, { current, broken }]) => {
      if (broken) return `${name} is broken`;
      return `${name} runs ${current?.version ?? 'nothing'}`;
    })
    .join(', ');
}
