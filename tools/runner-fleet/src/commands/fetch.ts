import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { chooseServers } from '@runner/fleet/files/operator';
import { openFleet } from '../rollout/connect.ts';
import { askAll } from '../rollout/presence.ts';
import { carry, EXITS, ROLLOUT, rolloutText } from './deploy.ts';

export const fetch = command({
  name: 'fetch',
  about: "Look for new commits on the servers' branches and deploy them",
  details:
    'For a timer on one machine with its own key, instead of runner-fetch.timer on each server.\n' +
    'Skips servers that do not answer or already run the commit.',
  positionals: { apps: { many: true, about: 'Names of apps [default: all on the servers]' } },
  options: {
    deploy: { kind: 'flag', about: 'Deploy new commits [default: only show them]' },
    on: ROLLOUT.on,
    canary: ROLLOUT.canary,
    'max-parallel': ROLLOUT['max-parallel'],
    'max-failures': ROLLOUT['max-failures'],
    key: ROLLOUT.key,
  },
  exits: EXITS,
  async run(context) {
    const { args, options } = context;
    const apps = args.apps.length > 0 ? args.apps : await appsThere(context, options.on);
    const more = {
      offline: 'skip',
      reason: 'fetch',
      behind: true,
      yes: true,
      plan: !options.deploy,
    };
    let worst: number = EXIT.ok;
    for (const app of apps) {
      const { status } = await carry(context, 'deploy', app, undefined, { ...options, ...more });
      worst = Math.max(worst, status);
    }
    return { status: worst };
  },
  human: rolloutText,
});

async function appsThere(
  context: Parameters<typeof carry>[0],
  on: string | undefined,
): Promise<string[]> {
  const broker = await openFleet(context);
  try {
    const answers = await askAll(context, broker, chooseServers(context.paths.root, on));
    const apps = answers.flatMap(({ state }) => state?.apps.map(({ app }) => app) ?? []);
    return [...new Set(apps)].sort();
  } finally {
    await broker.close();
  }
}
