import { command } from '@runner/common/cli/command';
import type { ChannelName } from '@runner/common/config/settings';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { CHANNELS } from '../channels/index.ts';
import { fieldsOf, wordOf } from '../service/fields.ts';
import { problemText } from '../service/problem-text.ts';
import type { TrialResult } from '../status/trial.ts';

interface Report {
  readonly channels: readonly TrialResult[];
}

const MARKS = { delivered: '✔', rejected: '✘', failed: '✘', not_active: '–' } as const;

export const test = command({
  name: 'test',
  about: 'Send a test notification to every active channel',
  details: [
    'Sends one message to each channel, once, and shows the answer of the service. A message that is',
    'not delivered comes with a hint on what to check.',
  ].join('\n'),
  options: {
    channel: {
      kind: 'value',
      placeholder: 'CHANNEL',
      choices: ['telegram', 'discord', 'both'],
      about: 'Which channel to test [default: every active one]',
    },
  },
  exits: [[EXIT.notConfigured, 'no such channel is active']],
  examples: ['runner notify test', 'runner notify test --channel telegram --json'],
  async run(context) {
    const [{ configExposure }, { tryChannels }] = await Promise.all([
      import('@runner/common/guards/exposure'),
      import('../status/trial.ts'),
    ]);
    const exposed = configExposure(context.paths);
    if (exposed) context.note(exposed);
    const asked = context.options.channel as ChannelName | 'both' | undefined;
    const channels = await tryChannels(context, asked);
    const arrived = channels.every(({ result }) => result === 'delivered');
    return { value: { channels } satisfies Report, status: arrived ? EXIT.ok : EXIT.failed };
  },
  human({ channels }: Report, style) {
    const lines = channels.flatMap((each) => {
      const { channel, result, hint, moved_to } = each;
      const colour = result === 'delivered' ? style.green : style.red;
      const line = `${colour(MARKS[result])} ${channel.padEnd(8)}  ${wordsOf(each)}`;
      const more = [
        ...(hint === undefined ? [] : [harmlessLine(hint)]),
        ...(moved_to === undefined
          ? []
          : [`${CHANNELS[channel].movingKey} is ${moved_to} now, saved`]),
      ];
      return [line, ...more.map((text) => `  → ${text}`)];
    });
    return lines.map((line) => `${line}\n`).join('');
  },
});

/** `delivered: message 12 in Deploys (supergroup -100…)`. */
function wordsOf(trial: TrialResult): string {
  if (trial.result === 'not_active') return 'not active: nothing was sent';
  if (trial.result !== 'delivered') return `${trial.result}: ${problemText(trial)}`;
  const answer = fieldsOf(trial.answer);
  const place = CHANNELS[trial.channel].placeOf(answer);
  const message = `message ${wordOf(answer.message_id)}`.trim();
  return harmlessLine(`delivered: ${message} in ${place}`);
}
