import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import type { NotifyStatus } from '../status/status.ts';

export const status = command({
  name: 'status',
  about: 'Show each channel: configured, active, and what the service reports',
  details:
    "Checks the bot, the chat and the bot's rights with Telegram, the webhook with Discord and Slack, the\n" +
    'token with ntfy, the login with the mail server. Sends no message. Secrets are masked.',
  options: {
    offline: { about: 'Do not contact the services' },
  },
  exits: [[EXIT.failed, 'no channel is active']],
  examples: ['runner notify status', 'runner notify status --offline --json'],
  safeInForeignRoot: true,
  async run({ io, paths, options, note }) {
    const { notifyStatus } = await import('../status/status.ts');
    const { value, inactive, warnings } = await notifyStatus({ io, paths }, options.offline);
    for (const warning of warnings) note(warning);
    if (inactive) {
      note(inactive);
      return { value, status: EXIT.failed };
    }
    return { value, status: value.healthy === false ? EXIT.failed : EXIT.ok };
  },
  human: async (report: NotifyStatus, style) =>
    (await import('../status/text.ts')).statusText(report, style),
});
