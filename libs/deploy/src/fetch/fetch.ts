/**
 * `runner fetch`: asks the code host for the head of each app's branch, a few at a time, decides
 * what that means, deploys what is new if asked to, and announces what changed.
 */
import { readConfig } from '@runner/common/config/file';
import { type DeployPolicy, deployPolicyOf } from '@runner/common/config/settings';
import { type Reporter, withoutSteps } from '../report/reporter.ts';
import { availableMemory } from '../run/memory.ts';
import { markOutput } from '../run/output-marks.ts';
import { announceChanges } from '../watch/announce.ts';
import { check } from './check.ts';
import type { FetchResult } from './decide.ts';
import { deployNew, deployRestored } from './deploy.ts';
import { inParallel } from './pool.ts';
import { logResult, recordResults } from './record.ts';
import type { FetchRequest, Settled } from './request.ts';
import { shareAnswers } from './shared.ts';
import { keepUp } from './upkeep.ts';

/** Concurrent requests to the code host; more of them count as abuse. */
const AT_ONCE = 4;

const WAITING: ReadonlySet<FetchResult['result']> = new Set([
  'stopped',
  'paused',
  'closed',
  'checks_failed',
]);

/** Checks every app, then deploys what is new. Returns the worst status. */
export async function fetchApps(request: FetchRequest): Promise<number> {
  const { io, paths, apps, signal, reporter } = request;
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
  if (request.deploy) for (const name of apps) await keepUp(request, name);
  const shared = shareAnswers();
  const checked: FetchResult[] = [];
  await inParallel(
    apps,
    { atOnce: AT_ONCE, signal },
    (name) => check(request, name, policy, shared),
    async (result) => void checked.push(result),
  );
  const isDue = ({ result }: FetchResult) =>
    (result === 'new_commit' || result === 'restored') && request.deploy;
  const settled = checked.filter((result) => !isDue(result));
  for (const each of await settle(request, settled, policy)) await conclude(each);
  await deployAll(request, checked.filter(isDue), policy, conclude);
  return worst;
}

/** Deploys several apps at once, and prints their results in order. */
async function deployAll(
  request: FetchRequest,
  due: readonly FetchResult[],
  policy: DeployPolicy,
  conclude: (settled: Settled) => Promise<void>,
): Promise<void> {
  const atOnce = Math.min(due.length, request.jobs ?? jobsFor(availableMemory()));
  const isQuiet = atOnce > 1;
  const work = async (result: FetchResult) => {
    const reporter = isQuiet ? labelled(request.reporter, result.app) : request.reporter;
    const deployIt = result.result === 'restored' ? deployRestored : deployNew;
    return deployIt({ ...request, reporter }, result, policy);
  };
  await inParallel(due, { atOnce, signal: request.signal }, work, async ({ result, outcome }) => {
    if (outcome && outcome.result !== 'deployed') request.onFailure(outcome);
    for (const each of await settle(request, [result], policy)) await conclude(each);
  });
}

/** Without the steps, which would mix; each remark names its app. */
function labelled(reporter: Reporter, app: string): Reporter {
  return { ...withoutSteps(reporter), note: (text) => reporter.note(`${app}: ${text}`) };
}

/** Two deploys at once; one where they would have less than this many bytes. */
const MEMORY = 2 * 2 ** 30;
const jobsFor = (available: number) => (available < MEMORY ? 1 : 2);

/** Records results and announces what they change, unless the operator ended it all. */
async function settle(
  request: FetchRequest,
  results: readonly FetchResult[],
  policy: DeployPolicy,
): Promise<Settled[]> {
  if (request.signal.aborted) return results.map((result) => ({ result, isNews: true }));
  if (results.length === 0) return [];
  const { settled, changes } = await recordResults(request, results, policy);
  await announceChanges(request, changes);
  return settled;
}
