import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import type { NotifyStatus } from '../status/status.ts';

export const status = command({
  name: 'status',
  about: 'Show each channel: configured, active, and what the service reports',
  details:
    "Asks Telegram for the bot, the chat and the bot's rights there, Discord and Slack for the webhook,\n" +
    'ntfy for the token, the mail server for the login. Sends no message. Secrets are masked.',
  options: {
    offline: { kind: 'flag', about: 'Do not contact the services' },
  },
  exits: [[EXIT.failed, 'no channel is active']],
  examples: ['runner notify status', 'runner notify status --offline --json'],
  async run({ io, paths, options, note }) {
    const { notifyStatus } = await import('./showing.ts');
    const { value, inactive, exposed } = await notifyStatus(paths, io, options.offline);
    if (exposed) note(exposed);
    if (inactive) {
      note(inactive);
      return { value, status: EXIT.failed };
    }
    return { value, status: value.healthy === false ? EXIT.failed : EXIT.ok };
  },
  human: async (report: NotifyStatus, style) =>
    (await import('./showing.ts')).statusText(report, style),
});
