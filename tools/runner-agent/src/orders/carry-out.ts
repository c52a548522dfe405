/** Carries out an order with other tools. */
import { pauseApps, resumeApps } from '@runner/common/apps/pause';
import { leftQuestion } from '@runner/common/apps/plan-words';
import { readPlan } from '@runner/common/apps/plans';
import { migrationWords } from '@runner/common/apps/schema-way';
import { requireApp } from '@runner/common/apps/store';

import { EXIT, Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { approve } from '@runner/deploy/plan/approve';
import { isHold, type Order, type SealedOrder } from '@runner/fleet/order/order';
import type { OrderResult, OrderStatus } from '@runner/fleet/order/result';
import { digestOf } from '@runner/fleet/order/seal';
import type { Agent } from './agent.ts';
import { findEntry, wasStarted } from './ledger.ts';
import { runTool, shortened } from './tool.ts';
import { notJudged, troubleOf, watchOfActive } from './trouble.ts';

/** The fields of a result that depend on how the order went. */
export type OrderWork = Omit<
  OrderResult,
  'order' | 'digest' | 'verb' | 'app' | 'at' | 'n' | 'prev'
>;

/** The deploy's id: derived from the order, so that a repeated order is the same deploy. */
export function deployIdOf({ id }: Pick<Order, 'id'>, server: string): string {
  return digestOf(`${id} ${server}`).slice(0, 8);
}

function argumentsOf(
  { verb, app, ref, accept_schema: accepted }: Order,
  deployId: string,
  plan: string | undefined,
): [string, ...string[]] {
  const planned = plan === undefined ? [] : ['--plan', plan];
  const identified = [app, '--deploy-id', deployId, '--trigger', 'fleet', '--wait', '10m'];
  if (verb === 'deploy') return ['runner-deploy', ...identified, ...planned, '--ref', ref];
  const more = [...(ref ? ['--to', ref] : []), ...(accepted ? ['--accept-schema', accepted] : [])];
  return ['runner-rollback', ...identified, ...planned, ...more];
}

export async function carryOut(
  agent: Agent,
  sealed: SealedOrder,
  order: Order,
  plan?: string,
): Promise<OrderWork> {
  if (order.verb === 'approve') return approval(agent, sealed.by, order);
  if (isHold(order.verb)) return hold(agent, sealed.by, order);
  const began = agent.io.elapsed();
  const call = (id: string) =>
    runTool(agent, argumentsOf(order, deployIdOf({ id }, agent.config.server), plan), {
      env: { RUNNER_INITIATOR: sealed.by, RUNNER_ORDER: order.id },
      each: ({ step, status: word }) => {
        if (word === 'started') agent.step?.(order, String(step));
      },
    });
  const { status, last } = (await resumedRollback(agent, order, call)) ?? (await call(order.id));
  const text = (field: string) =>
    typeof last[field] === 'string' ? (last[field] as string) : null;
  const code = text('message') === null ? null : text('error');
  const message = text('message') ?? failureText(text('stage'), text('error'), text('cause'));
  return {
    status: statusOf(status, text('result'), code),
    code,
    message: shortened(message || migratedWords(agent, order)),
    deploy_id: text('deploy_id'),
    version: text('version') || null,
    previous_version: (text('previous_version') ?? text('from_version')) || null,
    commit: text('commit') ?? (order.verb === 'deploy' ? order.ref : null),
    duration_ms: Math.round(agent.io.elapsed() - began),
    rollback_failed: status === EXIT.rollbackFailed,
    ...(text('result') === 'deployed' && (await judged(agent, order))),
    // A signal ended it: it has said nothing.
    ...(status === null && killed(agent, order)),
  };
}

/** The end of a rollback that this order continues: its version was the previous one, and no longer is. */
async function resumedRollback(
  { paths }: Agent,
  { verb, ref, resumes = [] }: Order,
  call: (id: string) => ReturnType<typeof runTool>,
): Promise<Awaited<ReturnType<typeof runTool>> | undefined> {
  if (verb !== 'rollback' || ref !== '') return undefined;
  for (const id of resumes) {
    const ended = wasStarted(findEntry(paths, id)) ? await call(id) : undefined;
    if (ended?.last.result === 'rolled_back') return ended;
  }
  return undefined;
}

/** What the deploy means for a rollback, if its migration may keep it from going back; else empty. */
function migratedWords({ paths, config }: Agent, order: Order): string {
  const id = deployIdOf(order, config.server);
  const { migrations = [] } = requireApp(paths, order.app);
  const found = migrations.find(({ deploy_id, first }) => deploy_id === id && !first);
  return found && ['broken', 'unknown'].includes(found.verdict) ? migrationWords(found) : '';
}

/** Where a deploy or rollback was killed, and what follows. */
function killed({ paths, config }: Agent, order: Order): Partial<OrderWork> {
  const app = requireApp(paths, order.app);
  const { deploying } = app;
  const isIts = deploying?.deploy_id === deployIdOf(order, config.server);
  const left = leftQuestion(paths, app);
  const next = left
    ? `${left.words}, and may be in: ${left.hint}`
    : 'the next command of the app cleans up';
  const message = `killed${isIts ? ` during ${deploying.stage}` : ''}; ${next}`;
  return { status: 'failed', code: 'interrupted', message: shortened(message) };
}

/** The order is done when the watch of its release is: what it says unless that is good. */
async function judged(agent: Agent, order: Order): Promise<Partial<OrderWork>> {
  const { watch, watched } = requireApp(agent.paths, order.app);
  const id = deployIdOf(order, agent.config.server);
  if ((watch ?? watched)?.deploy_id !== id) return {};
  agent.step?.(order, 'watch');
  const { last } = await runTool(agent, ['runner-watch', order.app]);
  const isOther = last.deploy_id !== undefined && last.deploy_id !== id;
  const reason = isOther ? 'another deploy ended it' : String(last.reason ?? 'no one watches');
  if (last.verdict === 'bad' && !isOther) return bad(agent, order, reason);
  if (last.verdict === 'good' && !isOther) return {};
  const { code, message } = notJudged(reason);
  return { code, message: shortened(message) };
}

/** What a bad watch has left: `report` leaves the release, and it may be that none could be started. */
async function bad(agent: Agent, { app }: Order, reason: string): Promise<Partial<OrderWork>> {
  const now = requireApp(agent.paths, app);
  const [active] = Object.values(now.instances).flatMap(({ current }) => current?.version ?? []);
  const isDown = (await troubleOf(agent, { ...now, watch: null }))?.code === 'not_running';
  const stays = watchOfActive(now) ? 'stays' : 'is active again';
  const what = active ? `${active} ${stays}${isDown ? ', but is down' : ''}` : 'nothing is active';
  return {
    status: 'failed',
    code: 'watch_bad',
    message: shortened(`watch: ${what}: ${reason}`),
    runs: active ?? null,
    rollback_failed: Object.values(now.instances).some(({ broken }) => broken),
  };
}

/** The first line of an error, its stage unless the error says it, and the cause. */
function failureText(stage: string | null, error: string | null, cause: string | null): string {
  const [first = ''] = (error ?? '').split('\n');
  const isNamed = stage === null || first.startsWith(`${stage}: `);
  return [...(isNamed ? [] : [stage]), first, ...(cause ? [cause] : [])].filter(Boolean).join(': ');
}

/** The result of an order that ran no tool. */
export const withoutWork = (
  status: OrderStatus,
  code: string | null,
  message: string,
): OrderWork => ({
  status,
  code,
  message: shortened(message),
  deploy_id: null,
  version: null,
  previous_version: null,
  commit: null,
  duration_ms: 0,
  rollback_failed: false,
});

/** Pauses or resumes the app, like runner-pause and runner-resume. */
function hold({ io, paths }: Agent, by: string, { verb, app, reason }: Order): OrderWork {
  const place = { paths, io: { ...io, env: { ...io.env, RUNNER_INITIATOR: by } } };
  try {
    requireApp(paths, app);
    if (verb === 'hold') pauseApps(place, [app], null, reason || null);
    else resumeApps(place, [app]);
    return withoutWork(verb === 'hold' ? 'paused' : 'resumed', null, '');
  } catch (error) {
    if (error instanceof Failure) return withoutWork('failed', error.code, error.message);
    throw error;
  }
}

/** The signer's approval, if config.yml lists the signer. */
async function approval({ io, paths }: Agent, by: string, order: Order): Promise<OrderWork> {
  const { ref: id, reason } = order;
  const reporter = { note: (text: string) => io.stderr.write(`${harmlessLine(text)}\n`) };
  try {
    if (readPlan(paths, id).plan.app !== order.app)
      throw new Failure('plan_not_found', `${id} is not a plan of '${order.app}'`);
    const done = await approve({
      io,
      paths,
      id,
      by,
      how: 'fleet',
      reason,
      applies: true,
      reporter,
    });
    return withoutWork('approved', null, done.waits ?? '');
  } catch (error) {
    if (error instanceof Failure) return withoutWork('failed', error.code, error.message);
    throw error;
  }
}

function statusOf(status: number | null, result: string | null, code: string | null): OrderStatus {
  if (code === 'paused') return 'held';
  if (status === EXIT.ok && result === 'unchanged') return 'up_to_date';
  return result === 'deployed' || result === 'rolled_back' ? result : 'failed';
}
