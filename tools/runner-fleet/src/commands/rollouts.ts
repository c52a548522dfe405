import { type Context, command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { canAsk } from '@runner/common/tokens/prompt';
import type { Broker } from '@runner/fleet/broker/nats';
import { readServers } from '@runner/fleet/files/operator';
import { withFleet } from '../rollout/connect.ts';
import { deliveryOf, storedResults } from '../rollout/delivery.ts';
import { batchesOf, drive } from '../rollout/drive.ts';
import { isFinished, isGood, type ServerLine, statusOf } from '../rollout/line.ts';
import { waitOf } from '../rollout/make.ts';
import { signPlan } from '../rollout/plan.ts';
import { askAll } from '../rollout/presence.ts';
import {
  allRollouts,
  cancelRollout,
  isOurs,
  requireFree,
  requireNewest,
  requireRollout,
} from '../rollout/record.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { EXITS, rolloutText } from './deploy.ts';
import { KEY } from './plumbing.ts';

const ID = { rollout: { required: true, about: 'Id of the rollout' } } as const;

export const rollouts = command({
  name: 'rollouts',
  about: 'List the rollouts',
  positionals: { app: { about: 'Only this app' } },
  async run(context) {
    const { paths, args } = context;
    return withFleet(context, async (broker) => {
      const all = await allRollouts(paths.root, broker, context.io.now());
      const wanted = all.filter(({ app }) => args.app === undefined || app === args.app);
      const shown = await Promise.all(
        wanted.map(async ({ order: _order, ...rest }, index) => ({
          ...rest,
          state: await stateNow(context, broker, wanted[index] as Rollout),
        })),
      );
      return { value: { count: shown.length, rollouts: shown } };
    });
  },
  human: ({ rollouts }: { rollouts: Omit<Rollout, 'order'>[] }) =>
    rollouts
      .map(
        ({ rollout, app, by, state, began }) =>
          `${rollout}  ${began}  ${state.padEnd(11)}  ${harmlessLine(app)}  ${by}\n`,
      )
      .join('') || 'There are no rollouts yet.\n',
});

/** An order that waited may have been answered since. */
async function stateNow(
  { paths }: Pick<Context, 'paths'>,
  broker: Broker,
  { order, state }: Rollout,
): Promise<Rollout['state']> {
  if (state !== 'incomplete') return state;
  const delivery = deliveryOf(order, readServers(paths.root));
  const answers = await storedResults(broker, delivery);
  if (!answers.every((line) => line !== undefined)) return state;
  return answers.every(isGood) ? 'done' : 'stopped';
}

export const cancel = command({
  name: 'cancel',
  about: 'Cancel a rollout: no further batch is ordered, running deploys continue',
  positionals: ID,
  async run(context) {
    return withFleet(context, async (broker) => {
      const rollout = await requireRollout(context, broker, context.args.rollout);
      await cancelRollout(broker, rollout);
      return { value: { rollout: rollout.rollout, result: 'cancelled' } };
    });
  },
  human: ({ rollout }: { rollout: string }) => `Cancelled ${rollout}\n`,
});

export const resume = command({
  name: 'resume',
  about: 'Continue a rollout on the servers that have not finished',
  details:
    'Signs a new order for these servers only. If another machine started the rollout, asks you to confirm\n' +
    'its order, because only the broker says what it was.',
  positionals: ID,
  options: { key: KEY },
  exits: EXITS,
  async run(context) {
    const { paths, args, options } = context;
    return withFleet(context, async (broker) => {
      const old = await requireRollout(context, broker, args.rollout);
      await requireFree(broker, old.app, context.io.now());
      await requireNewest(broker, old);
      const yes = isOurs(paths.root, old);
      if (!yes && !canAsk(context.io))
        throw new Failure(
          'order_invalid',
          `${old.rollout} was started on another machine: resume it on a terminal, or use runner fleet deploy --ref`,
        );
      const delivery = deliveryOf(old.order, readServers(paths.root));
      const results = await storedResults(broker, delivery);
      const left = delivery.servers.filter((_, index) => !isFinished(results[index]));
      const asked = await askAll(context, broker, left);
      const there = asked.flatMap(({ server, state }) => (state ? [server] : []));
      const { id, servers: _servers, issued, deadline, ...order } = delivery.order;
      const lasting = Date.parse(deadline) - Date.parse(issued);
      const isProven = (line: ServerLine | undefined) => line !== undefined && isGood(line);
      // A canary that has failed, or not finished, proves nothing to the others.
      const canary = delivery.servers.filter(
        ({ server }, index) => old.batches[0]?.includes(server) && !isProven(results[index]),
      ).length;
      const draft = {
        order: { ...order, resumes: [...(order.resumes ?? []), id] },
        version: null,
        deadline: lasting,
        wait: waitOf(undefined, lasting),
        batches: batchesOf(there, canary, Math.max(1, order.max_parallel)),
        absent: left.filter((server) => !there.includes(server)),
        maxFailures: old.max_failures,
      };
      const plan = await signPlan(context, draft, { key: options.key, yes });
      if (plan) return { status: await drive(context, broker, plan) };
      // What has failed is not tried again, and not passed over in silence.
      const failed = results.filter(isFinished).filter((line) => !isGood(line));
      for (const line of failed) await context.print(line);
      return { status: statusOf(failed) };
    });
  },
  human: rolloutText,
});
