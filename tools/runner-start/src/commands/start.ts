import { command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import { LIFE_EXITS, LIFE_OPTIONS, lifeText, runBoot, runLife } from '@runner/deploy/life';

export const start = command({
  name: '',
  about: 'Start what is active of an app',
  details:
    'Starts what does not run, with the secrets of today, and waits until it is healthy. Ends a stop.\n' +
    'With --boot it starts the active version of every app that does not run and was not stopped: the\n' +
    'service runner-boot.service of the package calls it.',
  positionals: { app: { about: 'Name of the app; required without --boot' } },
  options: {
    ...LIFE_OPTIONS,
    boot: { kind: 'flag', about: 'Start what ran before a reboot', conflicts: ['instance'] },
  },
  exits: LIFE_EXITS,
  examples: ['runner start shop'],
  async run(context) {
    const { args, options } = context;
    if (options.boot && args.app !== undefined)
      throw usage("the argument '--boot' cannot be used with '[APP]'");
    if (options.boot) return runBoot(context);
    if (args.app === undefined)
      throw usage('the following required arguments were not provided: <APP|--boot>');
    return runLife(context, 'start', args.app);
  },
  human: lifeText,
});
