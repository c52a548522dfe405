import { command } from '@runner/common/cli/command';
import { notProvided, usage } from '@runner/common/foundation/failure';
import { LIFE_EXITS, LIFE_OPTIONS, lifeText, runBoot, runLife } from '@runner/deploy/life';

export const start = command({
  about: 'Start an app',
  details:
    'Starts the active version with the current secrets and waits until it is healthy. Ends the effect of\n' +
    'runner stop. --boot starts every app that is not running and was not stopped; runner-boot.service\n' +
    'calls it.',
  positionals: { app: { about: 'Name of the app; required without --boot' } },
  options: {
    ...LIFE_OPTIONS,
    boot: {
      about: 'Start what ran before a reboot',
      conflicts: ['instance', 'asleep', 'plan', 'emergency'],
    },
    asleep: { about: 'Start only what sleeps; runner-waker calls it for the first request' },
  },
  exits: LIFE_EXITS,
  examples: ['runner start shop'],
  async run(context) {
    const { args, options } = context;
    if (options.boot && args.app !== undefined)
      throw usage("the argument '--boot' cannot be used with '[APP]'");
    if (options.boot) return runBoot(context);
    if (args.app === undefined) throw notProvided('<APP|--boot>');
    const reason = options.asleep ? 'woken by a request' : undefined;
    return runLife(context, 'start', args.app, reason);
  },
  human: lifeText,
});
