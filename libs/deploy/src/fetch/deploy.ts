/** Deploying a new commit that `fetch` found. */
import { isStopped } from '@runner/common/apps/operator';
import { returnsOf } from '@runner/common/apps/restored';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import type { DeployPolicy } from '@runner/common/config/settings';
import { holderOf } from '@runner/common/files/lock';
import type { Paths } from '@runner/common/foundation/paths';
import type { ResolvedRef } from '../git/ref.ts';
import type { GitSource } from '../git/source.ts';
import type { DeployRequest } from '../pipeline/begin.ts';
import { deploy } from '../pipeline/deploy.ts';
import { activeWords, type DeployOutcome } from '../pipeline/outcome.ts';
import { asFailure, check, skipped } from './check.ts';
import { decide, decideRestored, type FetchResult, fetchResult } from './decide.ts';
import { type LookedAt, sameFor, whyKept } from './follow.ts';
import type { FetchRequest } from './request.ts';
import { shareAnswers } from './shared.ts';
import { afterAge } from './young.ts';

/** Under the lock another decision was made than before it. */
class Overtaken extends Error {
  readonly result: FetchResult;

  constructor(result: FetchResult) {
    super(result.text);
    this.result = result;
  }
}

/** A deploy that was begun, or why it was not. */
export interface FetchAttempt {
  readonly result: FetchResult;
  readonly outcome?: DeployOutcome;
}

/** Deploys one app; without an outcome the deploy did not begin. Never throws. */
export async function deployNew(
  request: FetchRequest,
  result: FetchResult,
  policy: DeployPolicy,
): Promise<FetchAttempt> {
  const { io, paths } = request;
  const { app, commit, checks, package_age: known, plan } = result;
  // Another fetch may have deployed it meanwhile, or a recovery changed the state.
  const confirm = async (now: AppState, wanted: ResolvedRef, source: GitSource) => {
    const kept = await whyKept(now, wanted.refs, { commit: wanted.commit, tag: wanted.version });
    if (kept) throw new Overtaken(fetchResult(app, kept.result, kept.text));
    const looked: LookedAt = { app: now, source, locked: (work) => work() };
    const same = await sameFor(looked, wanted.commit);
    const decided = decide(now, { ...wanted, same, checks }, policy, io.now());
    const again = await afterAge(request, looked, decided, known);
    if (again.result !== 'new_commit') throw new Overtaken(again);
  };
  // With a plan the commit that was approved is deployed, whatever was pushed since.
  const planned = commit !== null && plan !== undefined ? { ref: commit, plan } : {};
  const tried = await attempt(request, result, { confirm, ...planned });
  const isUnplanned = tried.result.result === 'approval' && plan === undefined;
  if (!isUnplanned || requireApp(paths, app).deploying) return tried;
  // What a killed deploy left came first: now there is a plan to make, or one to apply.
  const again = await check(request, app, policy, shareAnswers());
  return again.result === 'new_commit' ? deployNew(request, again, policy) : { result: again };
}

/** Deploys what an app ran before a restore, where it was deployed separately instance by instance. */
export async function deployRestored(
  request: FetchRequest,
  { app }: FetchResult,
  policy: DeployPolicy,
): Promise<FetchAttempt> {
  const all: FetchAttempt[] = [];
  for (const { commit, version, instance } of returnsOf(requireApp(request.paths, app))) {
    const confirm = async (now: AppState) => {
      const isDue = returnsOf(now).some((each) => each.commit === commit);
      const again = isDue ? decideRestored(now, policy, request.io.now()) : undefined;
      if (again?.result !== 'restored')
        throw new Overtaken(
          again ?? fetchResult(app, 'skipped', `${version} was deployed meanwhile`),
        );
    };
    const what = { ref: commit, instance, returns: true, confirm };
    const { result, ...rest } = await attempt(request, { app, commit, version }, what);
    all.push({ ...rest, result: { ...result, returns: true } });
    if (rest.outcome?.interrupted) break;
  }
  const bad = all.find(({ result }) => result.status !== 0);
  const result = fetchResult(app, 'skipped', 'what ran before the restore was deployed meanwhile');
  return bad ?? all.at(-1) ?? { result };
}

async function attempt(
  request: FetchRequest,
  { app, commit, version, refusal }: Pick<FetchResult, 'app' | 'commit' | 'version' | 'refusal'>,
  what: Pick<DeployRequest, 'ref' | 'instance' | 'returns' | 'confirm' | 'plan'>,
): Promise<FetchAttempt> {
  const { io, paths, notify, reporter, next } = request;
  const cancelled = cancelledOf(request, app);
  const signal = AbortSignal.any([request.signal, cancelled.signal]);
  try {
    const options = { trigger: 'fetch' as const, notify, reporter, signal, next };
    const outcome = await deploy({ io, paths, app, ...options, ...what });
    return { result: resultOf(paths, outcome), outcome };
  } catch (error) {
    if (error instanceof Overtaken) return { result: error.result };
    const { code, message, commit: refused = commit } = asFailure(request, error);
    const about = { commit: refused, version, refusal, ...(what.plan && { plan: what.plan }) };
    if (code === 'locked') return { result: skipped(paths, app, about) };
    const resultAs = (
      kind: FetchResult['result'],
      text: string,
      more: Partial<FetchResult> = {},
    ) => {
      return { result: fetchResult(app, kind, text, { ...about, ...more }) };
    };
    // Announced once: each fetch looks again, and deploys as soon as the server is ready.
    if (code === 'not_ready') return resultAs('waiting', `${version} waits: ${message}`);
    // The next fetch makes another plan.
    if (code.startsWith('plan_') || code === 'approval_required')
      return resultAs('approval', `${version} waits: ${message}`);
    // The next fetch deploys it: what is new is known.
    if (code === 'audit_busy' || code === 'interrupted')
      return resultAs('skipped', `skipped: ${message}`, { status: 1 });
    return resultAs('error', message, { error: code, status: 1 });
  } finally {
    cancelled.done();
  }
}

function resultOf(paths: Paths, outcome: DeployOutcome): FetchResult {
  const { app, result, commit, version, deploy_id, stage, error: failure } = outcome;
  const about = { commit, version, deploy_id };
  if (result === 'deployed') return fetchResult(app, result, `deployed ${version}`, about);
  const ended = outcome.interrupted ? 'was cancelled' : 'failed';
  const text = `deploy of ${version} ${ended} at ${stage}, ${whatRuns(requireApp(paths, app), outcome)}`;
  const status = outcome.rollback_error ? 3 : 1;
  return fetchResult(app, result, text, { ...about, ...(failure && { failure }), status });
}

/** What is active after a failed deploy; for each instance if there are several. */
function whatRuns(state: AppState, outcome: DeployOutcome): string {
  const all = Object.entries(state.instances);
  if (all.length < 2) return activeWords(outcome);
  return all
    .map(([name, { current, broken }]) => {
      if (broken) return `${name} is broken`;
      if (isStopped(state, name)) return `${name} is stopped`;
      return `${name} runs ${current?.version ?? 'nothing'}`;
    })
    .join(', ');
}

/** Between two looks, in milliseconds. */
const POLL = 200;

/**
 * Aborted once `runner cancel` wants the deploy of an app that this process runs to end: a signal would end
 * all deploys of a fetch. `done` stops looking.
 */
function cancelledOf({ io, paths }: Pick<FetchRequest, 'io' | 'paths'>, app: string) {
  const controller = new AbortController();
  const timer = setInterval(() => {
    const { deploy_id: wanted } = holderOf(paths.cancel(app));
    if (wanted === undefined) return;
    const { pid, deploy_id: id } = holderOf(paths.lock(app));
    if (pid === io.pid && id === wanted) controller.abort();
  }, POLL);
  return { signal: controller.signal, done: () => clearInterval(timer) };
}
