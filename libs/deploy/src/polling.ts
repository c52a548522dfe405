/**
 * `runner fetch`: asks the code host for the head of each app's branch, a few at a time, decides
 * what that means, and deploys what is new when it is told to.
 */
import { appendFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AppState, requireApp, writeApp } from '@runner/common/apps';
import { readConfig } from '@runner/common/config';
import { Failure } from '@runner/common/failure';
import { makeFolder } from '@runner/common/files';
import { harmlessLine } from '@runner/common/harmless';
import type { Io } from '@runner/common/io';
import { holderOf } from '@runner/common/lock';
import type { Paths } from '@runner/common/paths';
import { changeRegistry } from '@runner/common/registry';
import { maxDeployRetries } from '@runner/common/settings';
import { sourceOf } from './origin.ts';
import type { Outcome } from './outcome.ts';
import { deploy } from './pipeline.ts';
import { remoteHead, versionOf } from './remote.ts';
import type { Reporter } from './reporter.ts';

/** Conversations with the code host at once: more of them count as abuse. */
const AT_ONCE = 4;

/** What was decided about one app; one line of `fetch`. */
export interface Decision {
  app: string;
  result:
    | 'up_to_date'
    | 'new_commit'
    | 'blocked'
    | 'held'
    | 'skipped'
    | 'error'
    | Outcome['result'];
  /** The decision in words. */
  text: string;
  commit: string | null;
  version: string | null;
  /** Code of what kept it from being found out; null otherwise. */
  error: string | null;
  deploy_id: string | null;
  /** What the decision means for the exit status. */
  status: number;
}

export interface FetchRequest {
  readonly io: Io;
  readonly paths: Paths;
  readonly apps: readonly string[];
  readonly deploy: boolean;
  readonly notify: boolean;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** Called for each decision as it is made. */
  decided(decision: Decision): Promise<void>;
  /** A deploy has failed: its outcome, for the tail of its output. */
  failed(outcome: Outcome): void;
}

/** Decides about every app; deploys one after the other. Returns the worst status. */
export async function fetchApps(request: FetchRequest): Promise<number> {
  const { io, paths } = request;
  const retries = maxDeployRetries(readConfig(paths));
  let worst = 0;
  const conclude = async (decision: Decision) => {
    worst = Math.max(worst, decision.status);
    log(paths, io.now(), decision);
    await request.decided(decision);
  };
  const news: Decision[] = [];
  let next = 0;
  const work = async () => {
    for (
      let index = next++;
      index < request.apps.length && !request.signal.aborted;
      index = next++
    ) {
      const decision = await look(request, request.apps[index] as string, retries);
      if (decision.result === 'new_commit' && request.deploy) news.push(decision);
      else await conclude(decision);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  noteChecked(request);
  news.sort((a, b) => (a.app < b.app ? -1 : 1));
  for (const decision of news) {
    if (!request.signal.aborted) await conclude(await deployOne(request, decision));
  }
  return worst;
}

function decision(
  app: string,
  result: Decision['result'],
  text: string,
  more: Partial<Decision> = {},
): Decision {
  return {
    app,
    result,
    text,
    commit: null,
    version: null,
    error: null,
    deploy_id: null,
    status: 0,
    ...more,
  };
}

async function look(request: FetchRequest, name: string, retries: number): Promise<Decision> {
  try {
    const app = requireApp(request.paths, name);
    const { source } = sourceOf(request, app);
    const { commit, tag } = await remoteHead(source);
    return judge(app, commit, versionOf(commit, tag), retries);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const words =
      error.code === 'network_error' ? `network error: ${error.message}` : error.message;
    return decision(name, 'error', words, { error: error.code, status: 1 });
  }
}

/** Block and hold are about one commit: another one lifts both by itself. */
function judge(app: AppState, commit: string, version: string, retries: number): Decision {
  const about = { commit, version };
  const running = Object.values(app.instances).map(({ current }) => current?.commit);
  // A deploy that was killed left something to clean up, whatever the head is.
  if (running.length > 0 && running.every((each) => each === commit) && !app.deploying) {
    return decision(app.app, 'up_to_date', 'up to date', about);
  }
  if (app.failures?.commit === commit && app.failures.count >= retries) {
    const text = `deploy blocked, same commit failed ${app.failures.count} times`;
    return decision(app.app, 'blocked', text, about);
  }
  if (app.held?.commit === commit) {
    return decision(app.app, 'held', `held: ${version} was rolled back`, about);
  }
  return decision(app.app, 'new_commit', `new commit ${version}`, about);
}

async function deployOne(
  request: FetchRequest,
  { app, commit, version }: Decision,
): Promise<Decision> {
  const { io, paths, notify, reporter, signal } = request;
  const about = { commit, version };
  try {
    const outcome = await deploy({ io, paths, app, trigger: 'fetch', notify, reporter, signal });
    const told = {
      ...about,
      commit: outcome.commit,
      version: outcome.version,
      deploy_id: outcome.deploy_id,
    };
    if (outcome.result === 'deployed')
      return decision(app, 'deployed', `deployed ${outcome.version}`, told);
    request.failed(outcome);
    const now = outcome.active_version
      ? `${outcome.active_version} is active`
      : 'nothing is active';
    const text = `deploy of ${outcome.version} failed at ${outcome.stage}, ${now}`;
    return decision(app, outcome.result, text, { ...told, status: outcome.rollback_error ? 3 : 1 });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'locked') {
      const { deploy_id: id } = holderOf(paths.lock(app));
      return decision(
        app,
        'skipped',
        `skipped: deploy ${typeof id === 'string' ? id : '?'} running`,
        about,
      );
    }
    return decision(app, 'error', error.message, { ...about, error: error.code, status: 1 });
  }
}

/** When each app was last asked about; all in one go, since each change syncs the disk. */
function noteChecked({ io, paths, apps, signal }: FetchRequest): void {
  if (signal.aborted) return;
  const now = io.now().toISOString();
  changeRegistry(paths, io, 'fetch', () => {
    for (const name of apps) {
      try {
        writeApp(paths, { ...requireApp(paths, name), last_checked: now });
      } catch (error) {
        // Removed meanwhile, or malformed: that was told already.
        if (!(error instanceof Failure)) throw error;
      }
    }
  });
}

/** One line in logs/fetch.log. A full disk does not keep an app from being deployed. */
function log(paths: Paths, now: Date, { app, text }: Decision): void {
  try {
    makeFolder(dirname(paths.fetchLog));
    appendFileSync(paths.fetchLog, `${now.toISOString()} ${app}: ${harmlessLine(text)}\n`, {
      mode: 0o640,
    });
  } catch {
    // The same line is on standard output.
  }
}
