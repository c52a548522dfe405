import { command } from '@runner/common/cli/command';
import { TELEMETRY_NAMES } from '@runner/common/config/telemetry-schema';
import { EXIT } from '@runner/common/foundation/failure';
import { configExposure } from '@runner/common/guards/exposure';
import { channelOption } from '../channels/options.ts';
import type { TrialResult } from '../status/trial.ts';

export const test = command({
  name: 'test',
  about: 'Send a test notification to every active channel',
  details:
    'Sends one message to each channel and shows the answer of the service, with a hint if it was not\n' +
    'delivered. Also tries each service of section telemetry: Grafana gets an annotation, the others are\n' +
    'only asked.',
  options: {
    channel: channelOption('Which channel to test [default: every active one]', ...TELEMETRY_NAMES),
  },
  exits: [[EXIT.failed, 'no such channel is active']],
  examples: ['runner notify test', 'runner notify test --channel telegram --json'],
  async run(context) {
    const { tryChannels } = await import('../status/trial.ts');
    const exposed = configExposure(context.paths);
    if (exposed) context.note(exposed);
    const channels = await tryChannels(context, context.options.channel);
    const arrived = channels.every(({ result }) => result === 'delivered');
    return { value: { channels }, status: arrived ? EXIT.ok : EXIT.failed };
  },
  human: async ({ channels }: { channels: readonly TrialResult[] }, style) =>
    (await import('../status/text.ts')).trialsText(channels, style),
});
