/** Reasons to refuse an order, in the order in which they are checked. */
import { stoppedWords } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { readConfig } from '@runner/common/config/file';
import { deployPolicyOf } from '@runner/common/config/settings';
import { harmlessLine } from '@runner/common/text/harmless';
import { decide, type FetchResult } from '@runner/deploy/fetch/decide';
import { underLock } from '@runner/deploy/journal/lock';
import { approvalFor } from '@runner/deploy/plan/wanted';
import { rollbackInLog } from '@runner/deploy/rollback/outcome';
import { readAgent, requireSigners } from '@runner/fleet/files/agent';
import { classOf, type Order, type SealedOrder } from '@runner/fleet/order/order';
import type { OrderStatus } from '@runner/fleet/order/result';
import { verify } from '@runner/fleet/order/sshsig';
import type { Agent } from './agent.ts';
import { deployIdOf } from './carry-out.ts';
import { allEntries } from './ledger.ts';
import { runTool } from './tool.ts';
import { notJudged, troubleOf, watchOfActive } from './trouble.ts';

export interface OrderRefusal {
  readonly status: OrderStatus;
  readonly code: string;
  readonly message: string;
}

/** How far the operator's clock may be ahead, in ms. */
const SKEW = 60_000;

/** Why the order is not trusted; undefined: it is. Throws `fleet_not_configured`, `config_invalid`, `guard_tripped`, `signing_failed`. */
export async function signerRefusal(
  { paths }: Agent,
  sealed: SealedOrder,
  order: Order,
): Promise<OrderRefusal | undefined> {
  // Read for each order, so that a restriction takes effect without a restart.
  const config = await readAgent(paths.root);
  const refused = (code: string, message: string): OrderRefusal => ({
    status: 'refused',
    code,
    message,
  });
  requireSigners(config.allowedSigners);
  const { verdict, fingerprint } = await verify(sealed, config.allowedSigners);
  const { by } = sealed;
  if (verdict === 'signature_invalid')
    return refused(verdict, 'the signature does not match the order');
  if (verdict === 'signer_unknown')
    return refused(
      verdict,
      `the key that signed it, ${fingerprint}, is not listed for '${by}' in allowed_signers`,
    );
  const may = config.allow?.get(by);
  const isAllowed =
    !config.allow ||
    (may && (may.apps?.includes(order.app) ?? true) && (may.verbs?.includes(order.verb) ?? true));
  if (!isAllowed)
    return refused(
      'signer_unknown',
      `agent.yml does not allow '${by}' to ${order.verb} ${order.app}`,
    );
  if (!order.servers.includes(config.server))
    return refused('order_other_server', `the order is not for ${config.server}`);
  return undefined;
}

/** Why it is too late, too early or superseded; undefined: it is not. `waiting`: the other orders in the mailbox. */
export function timeRefusal(
  { io, paths }: Agent,
  order: Order,
  waiting: readonly Order[],
): OrderRefusal | undefined {
  const now = io.now().getTime();
  if (Date.parse(order.deadline) < now)
    return {
      status: 'expired',
      code: 'order_expired',
      message: `its deadline was ${order.deadline}`,
    };
  if (Date.parse(order.issued) > now + SKEW) {
    const message = `it was issued at ${order.issued}, but the clock here says ${io.now().toISOString()}`;
    return { status: 'clock_skew', code: 'clock_skew', message };
  }
  const known = [...waiting, ...allEntries(paths).map((each) => each.order)];
  const newer = known.find(
    (each) =>
      each.app === order.app &&
      classOf(each.verb) === classOf(order.verb) &&
      order.verb !== 'approve' &&
      Date.parse(each.issued) > Date.parse(order.issued),
  );
  if (newer)
    return { status: 'superseded', code: 'order_superseded', message: `${newer.id} is newer` };
  return undefined;
}

/** What is to be done about the commit, once a watch of it is over. */
async function decided(agent: Agent, order: Order): Promise<FetchResult> {
  const { io, paths } = agent;
  const policy = deployPolicyOf(readConfig(paths));
  const head = { commit: order.ref, version: order.ref.slice(0, 12) };
  const decideNow = () => decide(requireApp(paths, order.app), head, policy, io.now());
  const first = decideNow();
  if (first.result !== 'up_to_date' || !requireApp(paths, order.app).watch) return first;
  agent.step?.(order, 'watch');
  await runTool(agent, ['runner-watch', order.app]);
  return decideNow();
}

const OBEYED = new Set(['blocked', 'held', 'stopped', 'paused', 'closed', 'young']);

/** How long to wait for another command of the app, in ms. */
const BUSY = 600_000;

/**
 * Why the app cannot be deployed now: blocked, held, stopped, paused, outside its deploy windows, its
 * packages are too young, or it, or a rollback, waits for an approval. Else the plan with the approvals that it needs.
 */
export async function appRefusal(
  agent: Agent,
  order: Order,
  by: string,
): Promise<OrderRefusal | { readonly plan: string } | undefined> {
  const { io, paths } = agent;
  const { verb, ref, app: name } = order;
  if (verb !== 'deploy' && verb !== 'rollback') return undefined;
  // It may be a deploy of this commit, such as that of a plan that was just approved.
  await underLock({ io, paths, app: name, wait: BUSY }, 'order', () => {}, 'fleet');
  const found = verb === 'deploy' ? await commitRefusal(agent, order) : undefined;
  // That command, or a watch, may have gone on for hours.
  const refusal = found ?? timeRefusal(agent, order, []);
  if (refusal) return refusal;
  // The one that this order continues had its approvals.
  const isBack = (id: string) =>
    rollbackInLog(paths, name, deployIdOf({ id }, agent.config.server))?.result === 'rolled_back';
  if (verb === 'rollback' && ref === '' && order.resumes?.some(isBack)) return undefined;
  const wanted = { ...approving(agent, requireApp(paths, name)), verb, by };
  const approval = await approvalFor(
    verb === 'deploy'
      ? { ...wanted, commit: ref }
      : { ...wanted, to: ref || undefined, acceptSchema: order.accept_schema },
  );
  if (!approval || 'plan' in approval) return approval;
  return { status: 'held', code: 'approval', message: approval.waits };
}

/** Why the commit is not to be deployed, without its approvals; undefined: it is. */
export async function commitRefusal(agent: Agent, order: Order): Promise<OrderRefusal | undefined> {
  const { result, text } = await decided(agent, order);
  if (OBEYED.has(result)) return { status: 'held', code: result, message: text };
  if (result !== 'up_to_date') return undefined;
  const app = requireApp(agent.paths, order.app);
  if (app.stopped) return { status: 'held', code: 'stopped', message: stoppedWords(app.stopped) };
  const trouble = await troubleOf(agent, app);
  if (trouble) return { status: 'failed', ...trouble };
  const watched = watchOfActive(app);
  const isOpen = watched?.verdict === 'not_judged';
  const why = isOpen ? notJudged(watched.reason) : { code: 'up_to_date', message: text };
  return { status: 'up_to_date', ...why };
}

function approving({ io, paths }: Agent, app: AppState) {
  const { signal } = new AbortController();
  const reporter = { note: (line: string) => io.stderr.write(`${harmlessLine(line)}\n`) };
  const locked = <T>(work: () => Promise<T>) =>
    underLock({ io, paths, app: app.app }, 'plan', work, 'fleet');
  return { io, paths, app, signal, reporter, locked, notify: true };
}

/** For which approval a commit waits that was ordered before, in words. */
export async function approvalWaits(
  agent: Agent,
  app: string,
  commit: string,
): Promise<string | undefined> {
  const wanted = approving(agent, requireApp(agent.paths, app));
  const asked = { ...wanted, verb: 'deploy', by: '', commit, onlyLooks: true } as const;
  const found = await approvalFor(asked);
  return found && 'waits' in found ? found.waits : undefined;
}
