import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import type { NotifyStatus } from '../status/status.ts';

export const status = command({
  name: 'status',
  about: 'Show each channel: configured, active, and what the service reports',
  details: [
    'Asks each service as far as it answers without a message: Telegram for the bot, the chat and what',
    'the bot may do there, Discord and Slack for the webhook, ntfy for the token, the mail server for',
    'the login. Sends no message and changes nothing. Secrets are masked.',
  ].join('\n'),
  options: {
    offline: { kind: 'flag', about: 'Call no service: show only what this machine knows' },
  },
  exits: [[EXIT.failed, 'no channel is active']],
  examples: ['runner notify status', 'runner notify status --offline --json'],
  async run({ io, paths, options, note }) {
    const { notifyStatus } = await import('../status/status.ts');
    const { value, inactive, exposed } = await notifyStatus(paths, io, options.offline);
    if (exposed) note(exposed);
    if (inactive) {
      note(inactive);
      return { value, status: EXIT.failed };
    }
    return { value, status: value.healthy === false ? EXIT.failed : EXIT.ok };
  },
  human: async (report: NotifyStatus, style) =>
    (await import('../status/status.ts')).statusText(report, style),
});
