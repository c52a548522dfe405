/**
 * `runner fetch`: asks the code host for the head of each app's branch, a few at a time, decides
 * what that means, and deploys what is new when it is told to.
 */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeRegistry } from '@runner/common/apps/change';
import type { AppState, CheckFailed } from '@runner/common/apps/state';
import { requireApp, writeApp } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import { readConfig } from '@runner/common/config/file';
import { maxDeployRetries } from '@runner/common/config/settings';
import { holderOf } from '@runner/common/files/lock';
import { makeFolder } from '@runner/common/files/read';
import { Failure, systemWords } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';
import { sourceOf } from '../git/open-source.ts';
import type { Wanted } from '../git/ref.ts';
import { remoteHead, versionOf } from '../git/remote.ts';
import { deploy } from '../pipeline/deploy.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import type { Reporter } from '../report/reporter.ts';
import { type Decision, decision, judge } from './decide.ts';

/** Conversations with the code host at once: more of them count as abuse. */
const AT_ONCE = 4;

/** Of a refusal in the state, in code points. */
const MESSAGE_MAX = 500;

/** Which apps are asked about, and whether what is new is deployed. */
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
  let untold = false;
  const conclude = async (decision: Decision) => {
    worst = Math.max(worst, decision.status);
    const trouble = log(paths, io.now(), decision);
    if (trouble && !untold) request.reporter.note(trouble);
    untold ||= trouble !== undefined;
    if (trouble) worst = Math.max(worst, 1);
    await request.decided(decision);
  };
  const news: Decision[] = [];
  const refused = new Map<string, Decision>();
  let next = 0;
  const work = async () => {
    for (
      let index = next++;
      index < request.apps.length && !request.signal.aborted;
      index = next++
    ) {
      const decision = await look(request, request.apps[index] as string, retries);
      if (decision.result === 'error') refused.set(decision.app, decision);
      if (decision.result === 'new_commit' && request.deploy) news.push(decision);
      else await conclude(decision);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  noteChecked(request, refused);
  news.sort((a, b) => (a.app < b.app ? -1 : 1));
  for (const decision of news) {
    if (!request.signal.aborted) await conclude(await deployOne(request, decision, retries));
  }
  return worst;
}

async function look(request: FetchRequest, name: string, retries: number): Promise<Decision> {
  try {
    const app = requireApp(request.paths, name);
    const { source } = sourceOf(request, app);
    const { commit, tag } = await remoteHead(source);
    return lookedAfter(request.paths, app, judge(app, commit, versionOf(commit, tag), retries));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const words =
      error.code === 'network_error' ? `network error: ${error.message}` : error.message;
    return decision(name, 'error', words, { error: error.code, status: 1 });
  }
}

/** Nothing is started by a fetch; that something does not run is said at each. */
function lookedAfter(paths: Paths, app: AppState, decided: Decision): Decision {
  if (decided.result !== 'up_to_date') return decided;
  // How many retries there are decides nothing about what runs.
  const { state, next } = summaryOf(paths, app, 0);
  if (state !== 'down' && state !== 'broken') return decided;
  return { ...decided, result: 'not_running', text: `up to date, but ${state}: ${next}` };
}

/** What was decided before the lock was taken does not hold any more. */
class Overtaken extends Error {
  readonly decision: Decision;

  constructor(decided: Decision) {
    super(decided.text);
    this.decision = decided;
  }
}

async function deployOne(
  request: FetchRequest,
  { app, commit, version }: Decision,
  retries: number,
): Promise<Decision> {
  const { io, paths, notify, reporter, signal } = request;
  const about = { commit, version };
  // Another fetch may have deployed it meanwhile, or recovering what a dead one left changed it.
  const confirm = (now: AppState, wanted: Wanted) => {
    const again = judge(now, wanted.commit, wanted.version, retries);
    if (again.result !== 'new_commit') throw new Overtaken(again);
  };
  const how = { trigger: 'fetch' as const, notify, reporter, signal, confirm };
  try {
    const outcome = await deploy({ io, paths, app, ...how });
    const told = {
      ...about,
      commit: outcome.commit,
      version: outcome.version,
      deploy_id: outcome.deploy_id,
    };
    if (outcome.result === 'deployed')
      return decision(app, 'deployed', `deployed ${outcome.version}`, told);
    request.failed(outcome);
    const now = whatRuns(requireApp(paths, app), outcome);
    const text = `deploy of ${outcome.version} failed at ${outcome.stage}, ${now}`;
    return decision(app, outcome.result, text, { ...told, status: outcome.rollback_error ? 3 : 1 });
  } catch (error) {
    if (error instanceof Overtaken) return error.decision;
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'locked') {
      const { deploy_id: id, command = 'another command' } = holderOf(paths.lock(app));
      const who = typeof id === 'string' ? `deploy ${id}` : command;
      return decision(app, 'skipped', `skipped: ${who} running`, about);
    }
    return decision(app, 'error', error.message, { ...about, error: error.code, status: 1 });
  }
}

/** What is active after a failed deploy; instance by instance where there are several. */
function whatRuns({ instances }: AppState, { active_version: active }: Outcome): string {
  const all = Object.entries(instances);
  if (all.length < 2) return active ? `${active} is active` : 'nothing is active';
  return all
    .map(([name, { current, broken }]) => {
      if (broken) return `${name} is broken`;
      return `${name} runs ${current?.version ?? 'nothing'}`;
    })
    .join(', ');
}

/** When each app was last asked about, and what was wrong; all in one go, since each change syncs the disk. */
function noteChecked(
  { io, paths, apps, signal }: FetchRequest,
  refused: ReadonlyMap<string, Decision>,
): void {
  if (signal.aborted || apps.length === 0) return;
  const now = io.now().toISOString();
  changeRegistry(paths, io, 'fetch', () => {
    for (const name of apps) {
      try {
        const app = requireApp(paths, name);
        const check_failed = checkFailed(app, refused.get(name), now);
        writeApp(paths, { ...app, last_checked: now, check_failed });
      } catch (error) {
        // Removed meanwhile, or malformed: that was told already.
        if (!(error instanceof Failure)) throw error;
      }
    }
  });
}

/** A refusal counts from the first of its code in a row. */
function checkFailed(
  { check_failed: before }: AppState,
  refused: Decision | undefined,
  now: string,
): CheckFailed | null {
  if (!refused?.error) return null;
  const { error, text } = refused;
  const since = before?.error === error ? before.since : now;
  return { since, error, message: cutCodePoints(harmlessLine(text), MESSAGE_MAX) };
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const APPENDING = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/**
 * One line in logs/fetch.log; returns what kept it from being written. A full disk does not keep an
 * app from being deployed.
 */
function log(paths: Paths, now: Date, { app, text }: Decision): string | undefined {
  try {
    makeFolder(dirname(paths.fetchLog));
    // A pipe that nobody reads must not stop the deploys, nor a link lead out of the root.
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
