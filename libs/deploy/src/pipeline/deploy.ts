/**
 * A deploy from top to bottom: lock, recover, fetch the commit, free space, what the server lacks, DeployStarted, the steps
 * (export, build, then switch, start and health of each instance), undone on error, DeploySuccess or
 * DeployFailure, state, prune, unlock, drain, and the chats last.
 */

import { variablesOf } from '@runner/common/app-secrets/open';
import type { ProxyMark } from '@runner/common/apps/watch';
import { DEPLOY_FILE } from '@runner/common/deploy-file/read';
import { isThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import { admit, begin, end, orGiveBack } from '../approval/admit.ts';
import { refuseAnswer, undecided } from '../database/killed.ts';
import { migrationSteps } from '../database/migrate.ts';
import { previewDatabase } from '../database/preview.ts';
import { sourceOf } from '../git/open.ts';
import type { GitSource } from '../git/source.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { hookSteps } from '../instances/hooks.ts';
import { startsBeside } from '../instances/place.ts';
import { type Prober, seenWords, startProber, whatWasSeen } from '../instances/probe.ts';
import { type ActiveStage, activation } from '../instances/steps.ts';
import { keptTarget } from '../instances/target.ts';
import { givingWay } from '../jobs/give-way.ts';
import { lookForAllJobs } from '../jobs/look.ts';
import { secretsStarting } from '../journal/journal.ts';
import type { Deploy, Operation } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { execute, type Failed } from '../operation/execute.ts';
import { operate } from '../operation/operate.ts';
import { BEFORE_ALL, markProxy, noteUnusual } from '../proxy/mark.ts';
import { checkSpace, freeReleaseName, temporaryRelease } from '../release/folder.ts';
import { releaseSteps } from '../release/make.ts';
import { reasoned } from '../release/reason.ts';
import { StepFailure } from '../run/step.ts';
import { canarySteps } from '../watch/canary.ts';
import { startWatcher } from '../watch/start.ts';
import {
  beginDeploy,
  type DeployRequest,
  type FetchedCommit,
  fetchCommit,
  tidyUp,
} from './begin.ts';
import { finishFailure, finishSuccess } from './finish.ts';
import { type DeployOutcome, deployInLog, lostAfterAll } from './outcome.ts';
import { checkReady, isSameFailure, preflight } from './preflight.ts';
import { asChangeOf, requireStillThere } from './still-there.ts';

/**
 * Deploys an app. Resolves with the outcome, also of a failed deploy; throws a Failure if the deploy
 * did not begin (unknown app, ref or instance, lock, network, token, disk, audit log).
 */
export async function deploy(request: DeployRequest): Promise<DeployOutcome> {
  const { paths, app: name, deployId } = request;
  const ended = deployInLog(paths, name, deployId);
  if (ended)
    request.reporter.note(`${deployId} has ended already: this is its result, nothing was done`);
  if (ended) return ended;
  let source: GitSource;
  const open = (app: Deploy['app']) => {
    const { source: opened, ...secrets } = sourceOf(request, app);
    source = opened;
    return secrets;
  };
  const [own, ways] = [
    { ...request, isStrict: true },
    { open, lost: lostAfterAll },
  ];
  const outcome = await operate<DeployOutcome>(own, 'deploy', ways, async (op) => {
    const endedMeanwhile = deployInLog(paths, name, deployId);
    if (endedMeanwhile) return endedMeanwhile;
    refuseAnswer(op.app, request.migrated);
    tidyUp(op);
    // What ran before a restore was approved then.
    const plan = request.returns ? undefined : admit(op, op.app, { ...request, verb: 'deploy' });
    const fetched = await fetchCommit(source, op, request).catch(asChangeOf(plan?.plan));
    if (plan) await requireStillThere(source, fetched.wanted, plan.plan);
    checkSpace(paths.app(name));
    noteFirst(op, fetched);
    const unready = await unreadyFor(op, fetched, source, request);
    begin(op, plan, request);
    const asPlanned = { ...request, ...(plan?.plan.ref === null && { follows: true }) };
    const begun = orGiveBack(op, () => beginDeploy(op, fetched, asPlanned));
    const done = await runDeploy(begun, source, fetched, { ...request, unready });
    end(op, done.result === 'deployed', endedWords(done));
    return done;
  });
  await lookForAllJobs(request, [name]);
  if (await startWatcher(request, name))
    request.reporter.note(`the release is being watched: runner watch ${name}`);
  return outcome;
}

function endedWords({ version, result, stage }: DeployOutcome): string {
  if (result === 'failed') return `the deploy of ${version} failed at ${stage}`;
  return `${version} was ${result.replace('_', ' ')}`;
}

/** Says at the first deploy of an app what it may be missing: a sandbox, a .deploy.yml. */
function noteFirst({ app, sandbox, reporter }: Operation, { contents }: FetchedCommit) {
  const { app: name, instances, last_failure: failed } = app;
  if (failed || Object.values(instances).some(({ current }) => current)) return;
  if (sandbox.lack !== undefined)
    reporter.note(
      `the commands of ${name} run without a sandbox and can read runner's keys: ${sandbox.lack}`,
    );
  if (!(contents instanceof StepFailure) && contents.from === null)
    reporter.note(
      `${name} has no ${DEPLOY_FILE}: nothing is built or started; runner init --app ${name} writes one`,
    );
}

/**
 * Why nothing need be built, undefined if the server is ready. Throws `not_ready` if the timer would
 * only record the same failure again.
 */
async function unreadyFor(
  op: Operation,
  { wanted: { commit }, contents }: FetchedCommit,
  source: GitSource,
  { trigger, migrated }: DeployRequest,
): Promise<StepFailure | undefined> {
  if (contents instanceof StepFailure) return undefined;
  const { file } = contents;
  const { app } = op.app;
  const set = variablesOf(op.secrets.today(file.instances[0]?.name ?? ''));
  const unready =
    (await preflight(op, { app, source, commit, file, set })) ??
    undecided(op.paths, op.app, file, migrated);
  if (unready && trigger === 'fetch' && isSameFailure(op.app, commit, op.redact(unready.message)))
    throw new Failure('not_ready', op.redact(unready.message));
  return unready;
}

/** Makes the release and makes it active in its instances; `unready`: why nothing need be built. */
async function runDeploy(
  op: Deploy,
  source: GitSource,
  { contents }: FetchedCommit,
  { migrated, unready }: Pick<DeployRequest, 'migrated'> & { unready: StepFailure | undefined },
): Promise<DeployOutcome> {
  const { commit, version, instances } = op;
  const appPaths = op.paths.app(op.app.app);
  const release = freeReleaseName(appPaths, op.io.now(), commit);
  const probers: Prober[] = [];
  let mark: ProxyMark | undefined;
  let first: ProxyMark | undefined;
  const markNow = async () => {
    if ('file' in contents) mark = await markProxy(contents.file);
    first ??= mark;
  };
  function* steps(): Generator<Step> {
    if (contents instanceof StepFailure) throw contents;
    if (unready) throw unready;
    yield* releaseSteps(op, { source, contents, name: release });
    const targets = instances.map(
      (name) => keptTarget(op, name, { release, version, commit }) as Target,
    );
    for (const target of targets) {
      const { instance, slot } = target;
      const run = () => checkReady(op, target);
      yield { stage: 'release', isBrief: true, instance: instance.name, slot, run };
    }
    yield {
      stage: 'release',
      isBrief: true,
      run: async () => void probers.push(...(await observe(op, targets))),
    };
    yield* previewDatabase(op, targets[0]);
    yield* migrationSteps(op, targets, migrated);
    const before = (target: Target) => hookSteps(op, target, 'pre_switch');
    const between = (beside: readonly Target[]) => [
      { stage: 'canary' as const, isBrief: true, run: markNow },
      ...canarySteps(op, beside),
      { stage: 'canary' as const, isBrief: true, run: markNow },
    ];
    yield* givingWay(op);
    yield* activation(op, targets, { title, before, between, isPartial: op.partial });
  }
  const failed = await execute(op, steps(), (error) => {
    // Before it is removed, which makes room again.
    const temporary = temporaryRelease(appPaths, op.deployId);
    if (isThere(temporary)) return reasoned(error, temporary);
    return reasoned(error, appPaths.release(release), op.deployId);
  });
  const seen = await whatWasSeen(probers);
  if (seen) op.reporter.note(seenWords(seen));
  const isFirst = instances.every((name) => !op.app.instances[name]?.current);
  if ('file' in contents && (failed || isFirst))
    await noteUnusual(op, isFirst ? { ...first, ...BEFORE_ALL } : first, contents.file);
  if (failed || contents instanceof StepFailure)
    return finishFailure(op, failed as Failed, { contents, release, seen });
  return finishSuccess(op, { file: contents.file, release, seen, mark });
}

/** Begins to ask what is active, as its users do, and notes the secrets of what will be. */
function observe(op: Deploy, targets: readonly Target[]): Promise<Prober[]> {
  secretsStarting(op, op.instances);
  const wasActive = ({ instance }: Target) => op.app.instances[instance.name]?.current;
  return Promise.all(targets.filter(wasActive).map(startProber));
}

/** What is reported of a stage. */
function title(stage: ActiveStage, { instance, slot, start, file }: Target): string | undefined {
  const where = startsBeside(instance) ? `${instance.name} in slot ${slot}` : instance.name;
  if (stage === 'switch') return `switch ${where}`;
  if (stage === 'start') return start.type === 'none' ? undefined : `start ${where}`;
  if (stage === 'health') return file.health && `health of ${where}`;
  return startsBeside(instance) ? `switch ${instance.name} to slot ${slot}` : undefined;
}
