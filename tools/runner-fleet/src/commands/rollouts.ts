import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { type FleetServer, readServers } from '@runner/fleet/files/operator';
import { openFleet } from '../rollout/connect.ts';
import { batchesOf, drive } from '../rollout/drive.ts';
import { isGood } from '../rollout/line.ts';
import { newOrder, signOrder } from '../rollout/make.ts';
import type { PlanLine } from '../rollout/plan.ts';
import { askAll } from '../rollout/presence.ts';
import {
  allRollouts,
  cancelRollout,
  type Rollout,
  requireFree,
  requireNewest,
  requireRollout,
} from '../rollout/record.ts';
import { answerOf, releasedOf } from '../rollout/release.ts';
import { EXITS, rolloutText } from './deploy.ts';
import { KEY } from './plumbing.ts';

const ID = { rollout: { required: true, about: 'Id of the rollout' } } as const;
const namesOf = (servers: readonly FleetServer[]) => servers.map(({ server }) => server);

/** How long to wait for results after the deadline, in ms. */
const GRACE = 60_000;

export const rollouts = command({
  name: 'rollouts',
  about: 'List the rollouts',
  positionals: { app: { about: 'Only this app' } },
  async run(context) {
    const { paths, args } = context;
    const broker = await openFleet(context);
    try {
      const all = await allRollouts(paths.root, broker, context.io.now());
      const wanted = all.filter(({ app }) => args.app === undefined || app === args.app);
      const shown = wanted.map(({ order: _order, ...rest }) => rest);
      return { value: { count: shown.length, rollouts: shown } };
    } finally {
      await broker.close();
    }
  },
  human: ({ rollouts }: { rollouts: Omit<Rollout, 'order'>[] }) =>
    rollouts
      .map(
        ({ rollout, app, by, state, began }) =>
          `${rollout}  ${began}  ${state.padEnd(11)}  ${harmlessLine(app)}  ${by}\n`,
      )
      .join('') || 'There are no rollouts yet.\n',
});

export const cancel = command({
  name: 'cancel',
  about: 'Cancel a rollout: no further batch is ordered, running deploys continue',
  positionals: ID,
  async run(context) {
    const broker = await openFleet(context);
    try {
      const rollout = await requireRollout(context, broker, context.args.rollout);
      await cancelRollout(broker, rollout);
      return { value: { rollout: rollout.rollout, result: 'cancelled' } };
    } finally {
      await broker.close();
    }
  },
  human: ({ rollout }: { rollout: string }) => `Cancelled ${rollout}\n`,
});

export const resume = command({
  name: 'resume',
  about: 'Continue a rollout on the servers that have not finished',
  details: 'Signs a new order for these servers only.',
  positionals: ID,
  options: { key: KEY },
  exits: EXITS,
  async run(context) {
    const { paths, args, options, print } = context;
    const broker = await openFleet(context);
    try {
      const old = await requireRollout(context, broker, args.rollout);
      await requireFree(broker, old.app, context.io.now());
      await requireNewest(broker, old);
      const { order, servers } = releasedOf(old.order, readServers(paths.root));
      const answers = await Promise.all(
        servers.map((server) => answerOf(broker, { sealed: old.order, order }, server)),
      );
      const left = servers.filter((_, index) => {
        const answer = answers[index];
        return !answer || (typeof answer.n !== 'number' && !isGood(answer));
      });
      const asked = await askAll(context, broker, left);
      const there = asked.flatMap(({ server, state }) => (state ? [server] : []));
      const absent = left.filter((server) => !there.includes(server));
      const batches = batchesOf(there, 0, Math.max(1, order.max_parallel));
      const line = (rollout: string | null): PlanLine => ({
        ...{ rollout, app: order.app, verb: order.verb, commit: order.ref || null, version: null },
        ...{ batches: batches.map(namesOf), absent: namesOf(absent) },
      });
      if (left.length === 0) {
        await print(line(null));
        return {};
      }
      const { id: _id, issued, deadline, ...same } = order;
      const lasting = Date.parse(deadline) - Date.parse(issued);
      const next = newOrder(context, { ...same, servers: namesOf(left) }, lasting);
      const sealed = await signOrder(context, JSON.stringify(next), options.key);
      await print(line(next.id));
      const plan = {
        sealed,
        batches,
        absent,
        maxFailures: old.max_failures,
        wait: lasting + GRACE,
      };
      return { status: await drive(context, broker, plan) };
    } finally {
      await broker.close();
    }
  },
  human: rolloutText,
});
