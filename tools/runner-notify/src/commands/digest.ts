import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { channelOption } from '../channels/options.ts';
import { resultLine, type SendResult } from '../deliver/result.ts';

export const digest = command({
  name: 'digest',
  about: 'Send a summary of recent deploys',
  details:
    'Covers deploys, failures and their causes, time to restore, apps that need attention, tokens that\n' +
    'expire soon. TIME is ISO 8601 (UTC unless it has a zone), a date, or how long ago: 12h, 7d. The packages\n' +
    'send it weekly if notify.digest is true in config.yml.',
  options: {
    since: {
      placeholder: 'TIME',
      default: '7d',
      about: 'Only events since this time [default: 7d]',
    },
    channel: channelOption('Where to send it [default: every active one]', 'all'),
    scheduled: { about: 'For the timer: do nothing unless notify.digest is true' },
    'dry-run': { about: 'Print what would be sent; queue and send nothing' },
  },
  examples: ['runner notify digest --dry-run', 'runner notify digest --since 30d'],
  async run(context) {
    const { announceDigest } = await import('../digest/digest.ts');
    const results = await announceDigest(context);
    for (const result of results) await context.print(result);
    return { status: results.some(({ result }) => result === 'failed') ? EXIT.failed : EXIT.ok };
  },
  human: (result: SendResult, style) => resultLine(result, style),
});
