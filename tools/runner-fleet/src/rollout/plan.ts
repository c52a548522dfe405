/** Plans a rollout: which servers, in which batches, at which commit. Changes nothing. */
import type { Context } from '@runner/common/cli/command';
import { Failure, Interrupted } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationText } from '@runner/common/text/time';
import { canAsk, isYes } from '@runner/common/tokens/prompt';
import type { Broker } from '@runner/fleet/broker/nats';
import { chooseServers, type FleetServer, readFleet } from '@runner/fleet/files/operator';
import { isHold, type Order, type OrderVerb } from '@runner/fleet/order/order';
import { isGoodThere } from '@runner/fleet/order/state';
import { batchesOf, type RolloutPlan } from './drive.ts';
import { checkWords, countOf, deadlineOf, newOrder, signOrder, waitOf } from './make.ts';
import { askAll, commitOf, lastState, type PingReply } from './presence.ts';
import { requireFree } from './record.ts';

/** Options of every command that sends orders. */
export interface OrderOptions {
  readonly on: string | undefined;
  readonly key: string | undefined;
  readonly reason: string | undefined;
  readonly canary?: string | undefined;
  readonly 'max-parallel'?: string | undefined;
  readonly 'max-failures'?: string | undefined;
  readonly offline?: string | undefined;
  readonly deadline?: string | undefined;
  readonly wait?: string | undefined;
  readonly behind?: boolean;
  readonly 'accept-schema'?: string | undefined;
  readonly plan?: boolean;
  readonly yes?: boolean;
}

/** The first line of a rollout. */
export interface PlanLine {
  /** null if nothing was ordered. */
  readonly rollout: string | null;
  readonly app: string;
  readonly verb: OrderVerb;
  readonly commit: string | null;
  readonly version: string | null;
  readonly batches: readonly (readonly string[])[];
  /** Servers that did not answer. */
  readonly absent: readonly string[];
}

/** The commit, the number of servers and the batches. */
export function planWords({ commit, version, batches, absent }: PlanLine): string {
  // A commit without a tag is its own version.
  const isNamed = version !== null && commit?.startsWith(version) === false;
  const name = isNamed ? ` (${harmlessLine(version)})` : '';
  const what = commit === null ? '' : ` ${commit.slice(0, 12)}${name}`;
  const steps = [
    ...batches.map((batch) => batch.join(' ')),
    ...(absent.length > 0 ? [`waiting for ${absent.join(' ')}`] : []),
  ];
  return `${what} on ${batches.flat().length + absent.length}: ${steps.join(', then ')}`;
}

interface WantedOrder {
  readonly verb: OrderVerb;
  readonly app: string;
  readonly ref: string | undefined;
}

type PlanContext = Pick<Context, 'io' | 'paths' | 'print' | 'note'>;

/** Asks the servers and signs the order. Undefined if there is nothing to do. */
export async function makePlan(
  context: PlanContext,
  broker: Broker,
  { verb, app, ref }: WantedOrder,
  options: OrderOptions,
): Promise<RolloutPlan | undefined> {
  const { io, paths } = context;
  const reason = options.reason ?? '';
  checkWords(app, reason);
  const config = await readFleet(paths.root);
  const holds = isHold(verb);
  const canary = countOf(options.canary, config.canary, 'canary');
  const maxParallel = countOf(options['max-parallel'], config.maxParallel, 'max-parallel', 1);
  const failures = countOf(options['max-failures'], config.maxFailures, 'max-failures');
  const deadline = deadlineOf(options.deadline, config.deadline);
  const wait = waitOf(options.wait, deadline);
  if (!holds) await requireFree(broker, app, io.now());
  const { present, absent } = await divide(context, broker, options);
  if (verb === 'rollback' && ref === undefined) requireSameVersion(app, present);
  const there = present.map(({ server }) => server);
  const targets = present.length + absent.length;
  const wantedCommit = { app, ref, targets };
  const head = verb === 'deploy' ? await commitOf(context, broker, there, wantedCommit) : undefined;
  const runs = (index: number) => {
    const there = present[index]?.state?.apps.find((one) => one.app === app);
    return there?.commit === head?.commit && there !== undefined && isGoodThere(there);
  };
  const wanted = options.behind ? there.filter((_, index) => !runs(index)) : there;
  const batches = holds
    ? batchesOf(wanted, 0, wanted.length)
    : batchesOf(wanted, canary, maxParallel);
  const draft = {
    order: {
      verb,
      app,
      ref: head?.commit ?? ref ?? '',
      reason,
      max_parallel: maxParallel,
      accept_schema: options['accept-schema'],
    },
    version: head?.version ?? null,
    batches,
    absent,
    deadline,
    wait,
    maxFailures: holds ? wanted.length + absent.length : failures,
  };
  return signPlan(context, draft, { ...options, yes: options.yes || holds });
}

/** A server that does not run yet what the others leave would go back too far. Throws `commit_disagrees`. */
function requireSameVersion(app: string, present: readonly PingReply[]): void {
  const runs = present.flatMap(({ server: { server }, state }) => {
    const version = state?.apps.find((one) => one.app === app)?.version;
    return version ? [{ server, version }] : [];
  });
  const [first] = runs;
  const other = runs.find(({ version }) => version !== first?.version);
  if (!first || !other) return;
  throw new Failure(
    'commit_disagrees',
    `${first.server} runs ${first.version}, ${other.server} runs ${other.version}: use --to with the version to roll back to, or --on`,
  );
}

/** An unsigned plan; `deadline` is in ms from now. */
interface RolloutDraft extends Omit<RolloutPlan, 'sealed' | 'heading'> {
  readonly order: Omit<Order, 'id' | 'issued' | 'deadline' | 'servers'>;
  readonly version: string | null;
  readonly deadline: number;
}

/** Signs the order of a plan; prints the plan and is undefined if there is nothing to do or only the plan is wanted. */
export async function signPlan(
  context: PlanContext,
  { order, version, deadline, ...rest }: RolloutDraft,
  { plan, yes, key }: Pick<OrderOptions, 'plan' | 'yes' | 'key'>,
): Promise<RolloutPlan | undefined> {
  const { verb, app, ref } = order;
  const batches = rest.batches.map(namesOf);
  const absent = namesOf(rest.absent);
  const servers = [...batches.flat(), ...absent];
  const commit = verb === 'deploy' ? ref : null;
  const line: PlanLine = { rollout: null, app, verb, commit, version, batches, absent };
  if (plan || servers.length === 0) {
    await context.print(line);
    return undefined;
  }
  if (!yes) confirm(context.io, `${verb} ${app}${planWords(line)}?`);
  const full = newOrder(context, { ...order, servers }, deadline);
  const sealed = await signOrder(context, JSON.stringify(full), key);
  return { sealed, heading: { ...line, rollout: full.id }, ...rest };
}

const namesOf = (servers: readonly FleetServer[]) => servers.map(({ server }) => server);

/** Which servers answer, and which absent ones get the order, according to `--offline`. Throws `server_offline`. */
async function divide(context: PlanContext, broker: Broker, options: OrderOptions) {
  const chosen = chooseServers(context.paths.root, options.on);
  const answers = await askAll(context, broker, chosen);
  const absent = answers.flatMap(({ state, server }) => (state ? [] : [server]));
  const present = answers.filter(({ state }) => state);
  const [first] = absent;
  if (first && (options.offline ?? 'stop') === 'stop') {
    const servers = namesOf(absent);
    const silent = answers.filter(({ state }) => !state);
    const seen = await Promise.all(silent.map((answer) => seenText(context, broker, answer)));
    throw new Failure(
      'server_offline',
      `no answer from ${seen.join(', ')}; nothing was changed: try again, or give --offline wait or --offline skip`,
      { servers },
    );
  }
  return { present, absent: options.offline === 'skip' ? [] : absent };
}

async function seenText(
  { io }: PlanContext,
  broker: Broker,
  { server, problem }: PingReply,
): Promise<string> {
  if (problem !== undefined) return `${server.server} (${problem})`;
  const last = await lastState(broker, server);
  const at = last && 'value' in last ? last.value.at : undefined;
  const age = durationText(Math.max(0, io.now().getTime() - Date.parse(at ?? '')));
  return `${server.server} (${at === undefined ? 'never seen' : `last seen ${age} ago`})`;
}

/** Throws `interrupted`. */
function confirm(io: Context['io'], question: string): void {
  if (canAsk(io) && !isYes(io, harmlessLine(question))) throw new Interrupted();
}
