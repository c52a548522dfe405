import { command } from '@runner/common/cli/command';
import { LIFE_EXITS, LIFE_OPTIONS, lifeText, runLife } from '@runner/deploy/lifecycle/command';

export const stop = command({
  name: '',
  about: 'Stop an app',
  details:
    'Stops what is active of each instance as its .deploy.yml says. It stays stopped: fetch --deploy, doctor\n' +
    'and the next boot leave the app alone until runner start or runner deploy.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    ...LIFE_OPTIONS,
    reason: { kind: 'value', placeholder: 'TEXT', about: 'Why, for status and the audit log' },
  },
  exits: LIFE_EXITS,
  examples: ['runner stop shop --reason "moving the database"'],
  async run(context) {
    return runLife(context, 'stop', context.args.app, context.options.reason);
  },
  human: lifeText,
});
