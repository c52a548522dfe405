/** The process that watches a release: one for each app, in the background, until the watch ends. */
import { setFlagsFromString } from 'node:v8';
import { slotPaths } from '@runner/common/apps/slots';
import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import type { WatchState } from '@runner/common/apps/watch';
import type { WatchRules } from '@runner/common/deploy-file/watch';
import { takeLock } from '@runner/common/files/lock';
import { recordedProcess, runningPid } from '@runner/common/files/process';
import { usageOf } from '@runner/common/files/usage';
import { isKeptWarm, withDrains } from '../instances/drain.ts';
import { askAll } from '../instances/drivers/ask.ts';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { keptTarget } from '../instances/target.ts';
import { changeOwnState } from '../journal/journal.ts';
import { contextOf, type Operation, say, uninterrupted } from '../journal/operation.ts';
import { secretsOf } from '../journal/secrets.ts';
import { recordedEnd } from '../journal/watch-ending.ts';
import { endDrains } from '../operation/go-back.ts';
import { availableMemory } from '../run/memory.ts';
import { endWatch, isInWatch, type WatchRequest } from './end.ts';
import { lookUntil, sourcesOf } from './look.ts';
import { progressWriter } from './progress.ts';
import { quietLog } from './quiet.ts';
import type { Judgement, WatchSource } from './source.ts';

/** Less free memory than this, in bytes, ends what is kept running. */
const MEMORY_MIN = 67_108_864;

/** Watches what is to be watched of an app until the end, unless another process does. Returns whether it did. */
export async function carryWatch(request: WatchRequest): Promise<boolean> {
  const { io, paths, app: name } = request;
  // Compiling costs more than what is done once a second could gain by it.
  setFlagsFromString('--no-opt');
  const holder = { pid: io.pid, command: 'watch', since: io.now().toISOString() };
  // The deploy that ends a watch finds its watcher at work, and starts no other one.
  for (let last: string | undefined; ; ) {
    const { watch } = (last === undefined ? requireApp : findApp)(paths, name) ?? {};
    const isCarried = last !== undefined;
    if (!watch || watch.deploy_id === last) return isCarried;
    const lock = takeLock(paths.watchLock(name), 0, holder);
    if (!lock) return isCarried;
    try {
      await watchRelease(request, watch);
    } finally {
      lock.release();
    }
    last = watch.deploy_id;
  }
}

async function watchRelease(request: WatchRequest, watch: WatchState): Promise<void> {
  const { io, paths } = request;
  const app = requireApp(paths, request.app);
  const secrets = await secretsOf(request, app);
  // A signal ends the looking, never the way back.
  const { signal = new AbortController().signal, ...calm } = request;
  const context = contextOf({ ...calm, deployId: watch.deploy_id }, app, secrets);
  const op = { ...uninterrupted(context), signal };
  const targets = targetsOf(op, watch);
  const [first] = targets;
  const rules = first?.file.watch;
  const policy = rules?.policy ?? 'report';
  const end = ({ verdict, words }: Judgement) =>
    endWatch({ ...calm, secrets }, watch, { verdict, words: op.redact(words) }, policy);
  const known = recordedEnd(paths, watch);
  if (known) return end({ verdict: known.verdict, words: known.reason });
  if (!first || !rules) return end({ verdict: 'not_judged', words: 'it is not active any more' });
  if (Date.parse(watch.until) <= io.now().getTime())
    return end({ verdict: 'not_judged', words: 'the process that watched it had ended' });
  const sources = sourcesOf(op, rules, targets, watch);
  try {
    const judgement = await look(op, watch, rules, sources);
    if (judgement) await end(judgement);
  } finally {
    for (const source of sources) source.close?.();
    op.log.close();
  }
}

/** Between two countings of the memory that is kept, in ms: it goes through all processes. */
const COUNT_EVERY = 60_000;

/** What is watched, as long as it is what the deploy made active. */
function targetsOf(op: Operation, { instances, deploy_id }: WatchState): Target[] {
  const log = quietLog(op.paths.deployLogs(op.app.app), deploy_id, op.redact);
  return instances.flatMap((name) => {
    const current = op.app.instances[name]?.current;
    const target = current?.deploy_id === deploy_id && keptTarget(op, name, current);
    return target ? [{ ...target, log }] : [];
  });
}

/** Resolves with what was found; undefined if another command has ended the watch, or a signal came. */
function look(
  op: Operation,
  watch: WatchState,
  rules: WatchRules,
  sources: readonly WatchSource[],
): Promise<Judgement | undefined> {
  const { version, deploy_id, since, until } = watch;
  const about = { version, deploy_id, since, until, policy: rules.policy };
  const show = progressWriter(op, about, sources);
  // A clock that went back does not make it longer.
  const left = Math.min(rules.for, Date.parse(watch.until) - op.io.now().getTime());
  let [warm, counted]: [number | null, number] = [null, Number.NEGATIVE_INFINITY];
  return lookUntil(op, sources, left, async () => {
    const app = findApp(op.paths, op.app.app);
    if (!isInWatch(app, watch)) return false;
    if (!isKeptWarm(app as AppState)) warm = null;
    else if (op.io.elapsed() - counted >= COUNT_EVERY) {
      counted = op.io.elapsed();
      warm = await warmBytes(op, app as AppState);
    }
    show(warm);
    await keepMemory(op, app as AppState);
    return true;
  });
}

/** What is kept running must not cost the release its memory. */
async function keepMemory(op: Operation, app: AppState): Promise<void> {
  if (!isKeptWarm(app) || availableMemory() >= MEMORY_MIN) return;
  if (!Object.values(app.instances).some(({ draining }) => draining)) return;
  say(op, 'too little memory is free: the version before is stopped, and the way back starts it');
  changeOwnState(op, (now) => ({
    ...withDrains(now, op.io.now()),
    ...(now.watch && { watch: { ...now.watch, cold: true } }),
  }));
  await endDrains(op);
}

/** Longest time for the answer of a supervisor, in ms. */
const PATIENCE = 2_000;

/** Memory that would be free without the versions that are kept running, in bytes; null if none runs. */
async function warmBytes(op: Operation, { app, instances }: AppState) {
  let sum: number | null = null;
  for (const [name, { draining, slots }] of Object.entries(instances)) {
    const held = draining && slots?.[draining.slot];
    if (!draining || !held) continue;
    const { run } = slotPaths(op.paths.app(app).instance(name), draining.slot);
    const pid = runningPid(run);
    const own = pid === undefined ? [] : [pid, recordedProcess(run)?.session ?? pid];
    const target = keptTarget(op, name, held, draining.slot);
    const status = target && pid === undefined ? driverFor(target.start).status(target) : 'unknown';
    const [answer] = own.length > 0 ? [] : await askAll([status], PATIENCE);
    if (answer?.status === 'stopped') continue;
    const usage = usageOf(own.length > 0 ? own : (answer?.pids?.() ?? []));
    sum = (sum ?? 0) + (usage?.own ?? 0);
  }
  return sum;
}
