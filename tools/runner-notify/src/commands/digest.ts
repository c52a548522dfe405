import { command } from '@runner/common/cli/command';
import { channelOption } from '../channels/options.ts';
import { type Result, resultLine } from '../deliver/result.ts';

export const digest = command({
  name: 'digest',
  about: 'Send one message about the last days',
  details: [
    'Deploys, failures and their causes, the time to restore, and what is down, blocked or ending.',
    'TIME is ISO 8601 (UTC unless it has a zone), a date, or how long ago: 12h, 7d. The packages have',
    'a weekly timer for it, which sends it where `notify.digest` is true in config.yml.',
  ].join('\n'),
  options: {
    since: {
      kind: 'value',
      placeholder: 'TIME',
      default: '7d',
      about: 'What happened at this time or later [default: 7d]',
    },
    channel: channelOption('Where to send it [default: every active one]', 'all'),
    scheduled: { kind: 'flag', about: 'Do nothing unless notify.digest is true, for the timer' },
    'dry-run': { kind: 'flag', about: 'Print what would be sent; queue and send nothing' },
  },
  examples: ['runner notify digest --dry-run', 'runner notify digest --since 30d'],
  async run(context) {
    const { since, channel, scheduled, 'dry-run': dryRun } = context.options;
    const { announceDigest } = await import('./sending.ts');
    const results = await announceDigest(context, { since, channel, scheduled, dryRun });
    for (const result of results) await context.print(result);
    return {};
  },
  human: (result: Result, style) => resultLine(result, style),
});
