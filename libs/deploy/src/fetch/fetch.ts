/**
 * `runner fetch`: asks the code host for the head of each app's branch, a few at a time, decides
 * what that means, deploys what is new if asked to, and announces what changed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { allNames, findApp, previewNames } from '@runner/common/apps/store';
import { readConfig } from '@runner/common/config/file';
import { type DeployPolicy, deployPolicyOf } from '@runner/common/config/settings';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { checkCertificates } from '../alerts/certificate.ts';
import { lookForAllJobs } from '../jobs/look.ts';
import { keepPlans } from '../plan/wanted.ts';
import type { Reporter } from '../report/reporter.ts';
import { availableMemory } from '../run/memory.ts';
import { markOutput } from '../run/output-marks.ts';
import { letSleep } from '../sleep/sleep.ts';
import { check } from './check.ts';
import type { FetchResult } from './decide.ts';
import { deployNew, deployRestored, type FetchAttempt } from './deploy.ts';
import { inOrder, type Limit, limitOf } from './limit.ts';
import { startPreviews } from './previews.ts';
import { headAsked, logResult, recordResults } from './record.ts';
import type { FetchRequest, Settled } from './request.ts';
import { shareAnswers } from './shared.ts';
import { keepUp } from './upkeep.ts';

/** Concurrent requests to one code host; more of them count as abuse. */
const AT_ONCE = 4;

/** How long an app that is to be deployed waits for the heads of those before it, in milliseconds. */
const PATIENCE = 2_000;

const WAITING: ReadonlySet<FetchResult['result']> = new Set([
  'stopped',
  'paused',
  'closed',
  'checks_failed',
  'young',
  'approval',
]);

/**
 * Checks every app, and deploys what is new as soon as it is known: a code host that hangs delays only
 * its own apps. Returns the worst status.
 */
export async function fetchApps(request: FetchRequest): Promise<number> {
  const { io, paths, signal, reporter, apps } = request;
  const policy = deployPolicyOf(readConfig(paths));
  let worst = 0;
  let isLogBroken = false;
  const conclude = async (settled: Settled) => {
    const { result, isNews } = settled;
    // What waits for an operator is logged once.
    const isLogged = isNews || !WAITING.has(result.result);
    const problem = isLogged ? logResult(paths, io.now(), result) : undefined;
    if (problem && !isLogBroken) reporter.note(problem);
    isLogBroken ||= problem !== undefined;
    worst = Math.max(worst, result.status, problem ? 1 : 0);
    await request.onResult(settled);
  };
  for (const name of apps) markOutput(paths.app(name).dir);
  if (request.deploy) await keepPlans(request, apps);
  const kept = [...apps, ...apps.flatMap((name) => previewNames(paths, name))];
  await keepUp(request, kept);
  if (request.deploy) await lookForAllJobs(request, apps);
  const shared = shareAnswers();
  // Beside the rest: a domain may not answer.
  const certificates = request.deploy ? checkCertificates(request, apps) : undefined;
  const asking = limitPerHost(paths, signal);
  const asked = new Map(apps.map((name) => [name, headAsked(paths, name)]));
  const checks = apps.map((name) => asking(name, () => check(request, name, policy, shared)));
  let trouble: unknown;
  const settling = async (results: readonly FetchResult[]) => {
    let settled: Settled[] = results.map((result) => ({ result, isNews: true }));
    try {
      if (!signal.aborted && results.length > 0)
        settled = await recordResults(request, results, policy, asked);
    } catch (error) {
      trouble ??= error;
    }
    for (const each of settled) await conclude(each);
  };
  const deployIt = deployerFor(request, policy, settling);
  const isDue = ({ result }: FetchResult) =>
    (result === 'new_commit' || result === 'restored') && request.deploy;
  let before: Promise<unknown> = Promise.resolve();
  const deploys = checks.map((checking, at) => {
    const earlier = before;
    const queued = checking.then(async (checked) => {
      if (!checked || !isDue(checked)) return undefined;
      // In the order of the apps, unless one of them takes long.
      await Promise.race([earlier, sleep(PATIENCE, undefined, { ref: false })]);
      return { done: deployIt(checked, at) };
    });
    before = Promise.all([earlier, queued]);
    return queued.then((begun) => begun?.done);
  });
  const others = async () => {
    const checked = await Promise.all(checks);
    const settled = checked.flatMap((result) => (result && !isDue(result) ? [result] : []));
    await settling(settled);
  };
  // The trouble of one must not end the process while others are being deployed.
  const ends = await Promise.allSettled([others(), ...deploys, certificates]);
  trouble ??= ends.find((end) => end.status === 'rejected')?.reason;
  if (trouble) throw trouble;
  if (request.deploy && !signal.aborted) {
    startPreviews(request);
    await letSleep(request, allNames(paths));
  }
  return worst;
}

function limitPerHost(paths: Paths, signal: AbortSignal) {
  const limits = new Map<string | undefined, Limit>();
  return <R>(app: string, work: () => Promise<R>) => {
    const host = unlessFailure(() => findApp(paths, app)?.host, undefined);
    const limit = limits.get(host) ?? limitOf(AT_ONCE, signal);
    limits.set(host, limit);
    return limit(work);
  };
}

/** Deploys apps, a few at once, and prints the results of those at work in the order of the apps. */
function deployerFor(
  request: FetchRequest,
  policy: DeployPolicy,
  settling: (results: readonly FetchResult[]) => Promise<void>,
) {
  const limit = limitOf(request.jobs ?? jobsFor(availableMemory()), request.signal);
  const alone = stepsAlone(request.reporter);
  const print = inOrder(async ({ result, outcome }: FetchAttempt) => {
    if (outcome && outcome.result !== 'deployed') request.onFailure(outcome);
    await settling([result]);
  });
  return (result: FetchResult, at: number) => {
    const deployIt = result.result === 'restored' ? deployRestored : deployNew;
    const work = (reporter: Reporter) => deployIt({ ...request, reporter }, result, policy);
    return limit(() => print(at, () => alone(result.app, work)));
  };
}

/** Shows the steps of a deploy that runs alone: those of several would mix. Then each remark names its app. */
function stepsAlone(reporter: Reporter) {
  let running = 0;
  let isMixed = false;
  return async <R>(app: string, work: (own: Reporter) => Promise<R>): Promise<R> => {
    running += 1;
    isMixed ||= running > 1;
    let isShown = false;
    const end = (how: 'done' | 'failed') => {
      if (isShown) reporter[how]();
      isShown = false;
    };
    const own: Reporter = {
      ...reporter,
      begin(step) {
        isShown = !isMixed;
        if (isShown) reporter.begin(step);
      },
      done: () => end('done'),
      failed: () => end('failed'),
      note: (text) => reporter.note(isMixed ? `${app}: ${text}` : text),
    };
    try {
      return await work(own);
    } finally {
      running -= 1;
    }
  };
}

/** Two deploys at once; one where they would have less than this many bytes. */
const MEMORY = 2 * 2 ** 30;
const jobsFor = (available: number) => (available < MEMORY ? 1 : 2);
