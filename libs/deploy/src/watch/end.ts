/** How a watch ends: its record, its message, what the state becomes, and the way back. */
import type { AppState } from '@runner/common/apps/state';
import { findApp } from '@runner/common/apps/store';
import type { WatchEnd, WatchState } from '@runner/common/apps/watch';
import { eventsOfDeploy } from '@runner/common/audit/scan';
import type { WatchPolicy } from '@runner/common/deploy-file/watch';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { wayBackTo } from '../database/way-back.ts';
import { withDrains } from '../instances/drain.ts';
import { whatIsWrong } from '../instances/health.ts';
import { fileOfRelease } from '../instances/kept-file.ts';
import { keptTarget } from '../instances/target.ts';
import { changeOwnState, writeEnd } from '../journal/journal.ts';
import { type Operation, say } from '../journal/operation.ts';
import { type OpenedSecrets, secretsOr } from '../journal/secrets.ts';
import { watchEnd, watchRecords } from '../journal/watch-ending.ts';
import { recordEnd } from '../operation/conclude.ts';
import { type OperationRequest, operate } from '../operation/operate.ts';
import { heldNotifier, startNotifier } from '../report/notifier.ts';
import { planRollback, type RollbackTarget } from '../rollback/plan.ts';
import { rollBack } from '../rollback/rollback.ts';
import type { Judgement } from './source.ts';

/** Longest wait for another command of the app, in ms: one that changes it ends the watch. */
const PATIENCE = 600_000;

/** What ends a watch. */
export type WatchRequest = Omit<OperationRequest, 'trigger' | 'notify'>;

export function isInWatch(app: AppState | undefined, { deploy_id }: WatchState): boolean {
  return app?.watch?.deploy_id === deploy_id;
}

/**
 * Ends a watch under the app's lock, unless another command has done so. A release that is bad is left by
 * the ordinary rollback, which finds the version before still running.
 */
export async function endWatch(
  { secrets, ...request }: WatchRequest & { readonly secrets: OpenedSecrets },
  watch: WatchState,
  { verdict, words }: Judgement,
  policy: WatchPolicy,
): Promise<void> {
  // Another command has ended it: its watcher must not wait for that one, and then be in the way.
  const isMoot = () => !isInWatch(findApp(request.paths, request.app), watch);
  const own = { ...request, trigger: 'watch', notify: true, wait: PATIENCE, isMoot };
  const open = (app: AppState) => secretsOr(request, app, secrets);
  const done = operate(own, 'watch', { open }, async (op) => {
    if (!isInWatch(op.app, watch)) return;
    const channels = choiceOf(op, watch);
    const held = heldNotifier(() => startNotifier(op.io, op.paths.root, channels));
    op.notifier = held;
    const goesBack = verdict === 'bad' && policy === 'rollback';
    const target = goesBack ? await targetOf(op, watch) : undefined;
    const end = { verdict, reason: target ? withStay(op, { watch, target }, words) : words };
    say(op, `watch of ${watch.version}: ${verdict.replace('_', ' ')}: ${end.reason}`);
    try {
      // From the record the next watcher sees what is left to do after a kill.
      const written = eventsOfDeploy(op.paths, watch.deploy_id);
      const at = recordEnd(op, watchRecords(op, watch, end), written);
      const watched = watchEnd(watch, end, at);
      // The way back comes first: a kill before the message has the next watcher send it.
      if (target) await leave(op, { watch, target }, watched);
      else
        writeEnd(op, (app) => ({ ...withDrains(app, op.io.now()), watch: null, watched }), false);
    } finally {
      op.notifier = held.start();
    }
  });
  await done.catch((error) => {
    const isOver = error instanceof Failure && error.code === 'interrupted' && isMoot();
    if (!isOver) throw error;
  });
}

function choiceOf({ paths, app }: Operation, { instances: [name = ''] }: WatchState) {
  const current = app.instances[name]?.current;
  return current ? fileOfRelease(paths, app.app, current)?.notify : undefined;
}

/** Why it is bad and, if nothing or the database keeps the release from going back, that it stays and why. */
function withStay(op: Operation, { watch, target }: WayOfWatch, words: string): string {
  const why = whyItStays(op, target);
  const stay = staysWords(watch, why ?? '');
  // After a kill the record has said so.
  return why === undefined || words.includes(stay) ? words : `${words}; ${stay}`;
}

/** There is no version before, or it does not work with the database; then with what brings both back. */
function whyItStays(op: Operation, target: RollbackTarget): string | undefined {
  try {
    const { moves } = planRollback(op.paths, op.app, target);
    const ways = moves.flatMap(({ to }) => wayBackTo(op, to) ?? []);
    const way = ways.find(({ verdict }) => verdict === 'broken');
    if (!way) return undefined;
    const fix = way.fix ? `${way.fix.does}: ${way.fix.command}` : 'there is no backup of it';
    return `${way.said}; ${fix}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  }
}

/** A watch, and where its way back leads. */
interface WayOfWatch {
  readonly watch: WatchState;
  readonly target: RollbackTarget;
}

/** All instances, or the one that is watched. */
async function targetOf(op: Operation, { instances }: WatchState): Promise<RollbackTarget> {
  const isAll = Object.keys(op.app.instances).length === instances.length;
  const sick: string[] = [];
  for (const name of Object.keys(op.app.instances)) if (await isSickTwin(op, name)) sick.push(name);
  return { to: undefined, instance: isAll ? undefined : instances[0], isOfWatch: true, sick };
}

/** Whether what is kept running is of the same commit, and is not healthy either. */
async function isSickTwin(op: Operation, name: string): Promise<boolean> {
  const { current, draining, slots } = op.app.instances[name] ?? {};
  const held = draining && slots?.[draining.slot];
  if (!held || held.commit !== current?.commit) return false;
  const twin = keptTarget(op, name, held, draining.slot);
  return Boolean(twin?.file.health && (await whatIsWrong(twin.file.health, twin)));
}

const staysWords = ({ version }: WatchState, why: string) => `${version} stays: ${why}`;

/** Goes back to the version before, of which the links are all that changes while it still runs. */
async function leave(
  op: Operation,
  { watch, target }: WayOfWatch,
  watched: WatchEnd,
): Promise<void> {
  const how = { ...target, force: true, reason: `watch: ${watched.reason}` };
  const problemOf = onFailure(({ message }) => ({ error: message }));
  const { error } = await rollBack(op, how).catch(problemOf);
  if (error === undefined) return;
  // There is no way back: it is not tried again at each fetch.
  say(op, staysWords(watch, error));
  changeOwnState(op, (now) => ({ ...withDrains(now, op.io.now()), watch: null, watched }));
}
