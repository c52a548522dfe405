import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { channelOption } from '../channels/options.ts';
import type { Preview } from '../channels/preview.ts';

export const preview = command({
  name: 'preview',
  about: 'Show the exact messages of deploy events, without sending them',
  details:
    'Reads records as `runner notify send` does and prints the body of each message. Without records it\n' +
    'shows a sample of every kind. Checks the templates first. Needs no network and no credentials.',
  options: {
    channel: channelOption('For which channel [default: the active ones, else all]', 'all'),
  },
  examples: [
    'runner notify preview',
    'tail -n 1 /opt/runner/logs/deploy-events.jsonl | runner notify preview --json',
  ],
  safeInForeignRoot: true,
  async run(context) {
    const { printPreviews } = await import('../channels/preview.ts');
    const sound = await printPreviews(context, context.options.channel);
    return { status: sound ? EXIT.ok : EXIT.failed };
  },
  human({ channel, method, event_type, deploy_id, part, parts, payload }: Preview, style) {
    const count = parts === 1 ? '' : `, message ${part} of ${parts}`;
    const head = harmlessLine(`${channel} ${method}: ${event_type} [${deploy_id}]${count}`);
    return `${style.bold(head)}\n${harmless(JSON.stringify(payload, null, 2))}\n\n`;
  },
});
