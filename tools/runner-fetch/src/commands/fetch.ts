import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Decision } from '@runner/deploy/fetch/decide';

/** Printed where no app is registered. */
interface NoApps {
  count: 0;
  apps: [];
}

export const fetch = command({
  name: '',
  about: 'Look for new commits, and deploy them',
  details:
    'Asks the code host for the head of each branch, a few at a time, and prints one line an app; the\n' +
    'same lines are in logs/fetch.log. Made for a timer: safe to overlap, 0 when there is nothing to do,\n' +
    'and also for an app that is blocked (its commit failed too often), held (rolled back by hand) or\n' +
    'being deployed. An app that is up to date but not running is named, and not started. The status\n' +
    'is that of the worst app; 1 also when logs/fetch.log cannot be written.\n' +
    'Without any app it says so; --json then prints {"count":0,"apps":[]}.',
  positionals: { apps: { many: true, about: 'Names of apps [default: all]' } },
  options: {
    deploy: { kind: 'flag', about: 'Deploy what is new' },
    quiet: { kind: 'flag', short: 'q', about: 'Print nothing about apps that are up to date' },
    'no-notify': { kind: 'flag', about: 'Tell nobody about these deploys' },
  },
  exits: [
    [3, 'A deploy failed, and so did its rollback'],
    [130, 'Interrupted (Ctrl-C)'],
  ],
  examples: ['runner fetch --deploy --quiet', 'runner fetch shop blog'],
  async run(context) {
    const { runFetch } = await import('../fetching.ts');
    return { status: await runFetch(context) };
  },
  human: (told: Decision | NoApps) =>
    'app' in told
      ? `${harmlessLine(told.app)}: ${harmlessLine(told.text)}\n`
      : 'no apps yet: register one with runner add\n',
});
