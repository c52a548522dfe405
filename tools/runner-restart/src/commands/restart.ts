import { command } from '@runner/common/cli/command';
import { LIFE_EXITS, LIFE_OPTIONS, lifeText, runLife } from '@runner/deploy/life';

export const restart = command({
  about: 'Restart an app',
  details:
    'Restarts the active version with the current secrets, and waits until it is healthy. Nothing is\n' +
    'rolled back if it is not.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: LIFE_OPTIONS,
  exits: LIFE_EXITS,
  examples: ['runner restart shop', 'runner restart shop --instance default'],
  async run(context) {
    return runLife(context, 'restart', context.args.app, undefined);
  },
  human: lifeText,
});
