import { type Context, command } from '@runner/common/cli/command';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Broker } from '@runner/fleet/broker/nats';
import { chooseServers, type FleetServer } from '@runner/fleet/files/operator';
import { withFleet } from '../rollout/connect.ts';
import { drive } from '../rollout/drive.ts';
import { newCommit } from '../rollout/fetched.ts';
import { makePlan, type OrderOptions, type PlanLine } from '../rollout/plan.ts';
import { askAll } from '../rollout/presence.ts';
import { EXITS, ROLLOUT, rolloutText } from './deploy.ts';

export const fetch = command({
  name: 'fetch',
  about: "Look for new commits on the servers' branches and deploy them",
  details:
    'For a timer on one machine with its own key, instead of runner-fetch.timer on each server.\n' +
    'Servers that do not answer or where the app is paused or stopped are left out. A commit that is\n' +
    'blocked, on hold or waits for its checks or for a retry on one server is not deployed on the others.',
  positionals: { apps: { many: true, about: 'Names of apps [default: all on the servers]' } },
  options: {
    deploy: { about: 'Deploy new commits [default: only show them]' },
    on: ROLLOUT.on,
    canary: ROLLOUT.canary,
    'max-parallel': ROLLOUT['max-parallel'],
    'max-failures': ROLLOUT['max-failures'],
    deadline: ROLLOUT.deadline,
    wait: ROLLOUT.wait,
    key: ROLLOUT.key,
  },
  exits: EXITS,
  async run(context) {
    const { args, options, note } = context;
    const more = { offline: 'skip', reason: 'fetch', yes: true, plan: !options.deploy };
    return withFleet(context, async (broker) => {
      const answers = await askAll(context, broker, chooseServers(context.paths.root, options.on));
      const appsOn = ({ state }: (typeof answers)[number]) =>
        state?.apps.map(({ app }) => app) ?? [];
      const all = [...new Set(answers.flatMap(appsOn))].sort();
      const apps = args.apps.length > 0 ? args.apps : all;
      let worst: number = EXIT.ok;
      for (const { problem } of answers)
        if (problem !== undefined) {
          note(harmlessLine(problem));
          worst = EXIT.failed;
        }
      for (const app of apps) {
        const there = answers.filter((each) => appsOn(each).includes(app));
        const servers = there.map(({ server }) => server);
        try {
          const status = await fetchApp(context, broker, { app, servers }, { ...options, ...more });
          worst = Math.max(worst, status);
        } catch (error) {
          // The other apps are looked at nevertheless.
          if (!(error instanceof Failure) || error.status > 128 || apps.length === 1) throw error;
          note(`${harmlessLine(app)}: ${error.message} (${error.code})`);
          worst = Math.max(worst, error.status);
        }
        if (worst > 128) break;
      }
      return { status: worst };
    });
  },
  human: rolloutText,
});

async function fetchApp(
  context: Pick<Context, 'io' | 'paths' | 'print' | 'note'>,
  broker: Broker,
  { app, servers }: { app: string; servers: readonly FleetServer[] },
  options: OrderOptions,
): Promise<number> {
  if (servers.length === 0)
    throw new Failure('app_not_found', `no server that answers has an app called '${app}'`);
  const {
    status,
    servers: fresh,
    commit,
    version,
  } = await newCommit(context, broker, servers, app);
  if (fresh.length === 0 || commit === null) {
    const nothing: PlanLine = {
      rollout: null,
      app,
      verb: 'deploy',
      commit,
      version,
      batches: [],
      absent: [],
    };
    await context.print(nothing);
    return status;
  }
  const on = fresh.map(({ server }) => server).join(',');
  const plan = await makePlan(
    context,
    broker,
    { verb: 'deploy', app, ref: commit },
    { ...options, on },
  );
  return Math.max(status, plan ? await drive(context, broker, plan) : EXIT.ok);
}
