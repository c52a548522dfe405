import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { type Cancelled, cancelDeploy } from '../cancel-deploy.ts';

export const cancel = command({
  about: 'Cancel a running deploy',
  details:
    'Works like Ctrl-C: the switch is rolled back, and the failure does not count. Waits until the deploy\n' +
    'has ended and prints the result. A fetch --deploy continues with its other apps, and tries this one again\n' +
    'next time; but a release that is withdrawn from its canary, also one whose deploy was killed, is put on hold.\n' +
    'A rollback cannot be cancelled. If no deploy is running, the exit status is 0.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  exits: [
    [1, 'The deploy had succeeded before it could be cancelled'],
    [3, 'The deploy was cancelled, and its rollback failed'],
    [75, 'A rollback or another command that cannot be cancelled is running'],
  ],
  examples: ['runner cancel shop'],
  async run(context) {
    const value = await cancelDeploy(context, context.args.app, context.note);
    if (value.rolled_back === false) return { value, status: EXIT.rollbackFailed };
    return { value, status: value.result === 'deployed' ? EXIT.failed : EXIT.ok };
  },
  human(outcome: Cancelled, style) {
    const { result, deploy_id, version, active_version: active } = outcome;
    const app = harmlessLine(outcome.app);
    if (result === 'nothing_running')
      return `Nothing to cancel: no deploy of '${app}' is running.\n`;
    const id = deploy_id === null ? '' : ` [${harmlessLine(deploy_id)}]`;
    const name = style.bold(version === null ? app : `${app} ${harmlessLine(version)}`);
    if (result === 'deployed') return `Too late: ${name} was deployed${id}.\n`;
    const at = outcome.stage === null ? '' : ` at ${harmlessLine(outcome.stage)}`;
    const now =
      outcome.rolled_back === false
        ? 'The rollback failed: it is uncertain what is running now, check the app.'
        : active === null
          ? 'Nothing is active.'
          : `${harmlessLine(active)} is active.`;
    const hold = `It is on hold until the next push or runner deploy ${app}.\n`;
    return result === 'failed'
      ? `${style.red('Failed')} ${name}${at}${id} before it could be cancelled. ${now}\n`
      : `${style.green('Cancelled')} the deploy of ${name}${at}${id}. ${now}\n${outcome.held ? hold : ''}`;
  },
});
