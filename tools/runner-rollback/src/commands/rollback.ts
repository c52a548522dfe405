import { command } from '@runner/common/cli/command';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import type { RollbackOutcome } from '@runner/deploy/rollback/rollback';

export const rollback = command({
  name: '',
  about: 'Bring the version before back',
  details:
    'Switches to a kept release and starts it: no network, no token, no build. The abandoned commit is\n' +
    'held: fetch --deploy does not bring it back; a new push or a deploy by hand does. When the version\n' +
    'that should run could not be started (broken), it is started again.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    to: {
      kind: 'value',
      placeholder: 'VERSION',
      about: 'Version or commit to go to, also the active one [default: the one before]',
    },
    instance: { kind: 'value', placeholder: 'NAME', about: 'Only this instance [default: all]' },
    'no-notify': { kind: 'flag', about: 'Tell nobody; the audit log is written all the same' },
  },
  exits: [
    [3, 'It failed, and the version that was active could not be brought back either'],
    [75, 'A deploy of the app is running'],
  ],
  async run(context) {
    const { runRollback } = await import('../rolling-back.ts');
    return runRollback(context);
  },
  human(outcome: RollbackOutcome, style) {
    const { app, result, version, from_version: from, deploy_id: id } = outcome;
    const name = style.bold(harmlessLine(app));
    if (result === 'rolled_back' && outcome.restarted) {
      return `${style.green('Started')} ${harmlessLine(from)} of ${name} again [${id}]\n`;
    }
    if (result === 'rolled_back') {
      return `${style.green('Rolled back')} ${name} from ${harmlessLine(from)} to ${harmlessLine(version ?? '')} [${id}]\n`;
    }
    const now = outcome.rollback_error
      ? `${harmless(outcome.rollback_error)}. What runs now is uncertain: look at it.`
      : `${harmlessLine(version ?? '')} is active as before.`;
    return `${style.red('Failed')} to roll back ${name} [${id}]. ${now}\n`;
  },
});
