import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import { ANSWERS, channelOption } from '../channels/options.ts';
import type { Answers } from '../service/contract.ts';
import type { SetupReport } from '../setup/setup.ts';

const ALL_ANSWERS: Answers = Object.assign({}, ...Object.values(ANSWERS));
const VARIABLES = Object.values(ALL_ANSWERS).flatMap(({ variable }) => variable ?? []);

export const setup = command({
  name: 'setup',
  about: 'Set up channels for notifications, and save them in config.yml',
  details:
    'On a terminal it asks for what each service needs: a bot token and a chat, the URL of a webhook or\n' +
    'topic, a mail server. It sends a test message, then saves. Ctrl-C cancels without changes.\n' +
    '\n' +
    'Without a terminal, all answers come from options, files and the environment. Secrets are read from\n' +
    'files because arguments are visible in the process list; `-` is standard input. Or set\n' +
    `${VARIABLES.slice(0, 4).join(', ')},\n` +
    `${VARIABLES.slice(4).join(', ')}.`,
  options: {
    channel: channelOption(
      'What to set up [default: the channel of the other options, else asked]',
    ),
    ...ALL_ANSWERS,
    'no-test': { about: 'Send no test message' },
  },
  examples: [
    'runner notify setup',
    'runner notify setup --channel telegram --token-file - --chat-id -1001234567890 < /root/bot-token',
    'runner notify setup --channel discord --webhook-file - < /root/webhook',
  ],
  async run(context) {
    const { setUp } = await import('../setup/setup.ts');
    const { 'no-test': noTest, ...answers } = context.options;
    return { value: await setUp(context, answers, !noTest) };
  },
  human({ config, channel, channels }: SetupReport, style) {
    const names = channels.map((each) => `${each.channel}${each.tested ? '' : ' (not tested)'}`);
    const saved = `saved ${names.join(' and ')} in ${config}; channel: ${[channel].flat().join(', ')}`;
    const arrived = channels.some(({ tested }) => tested) ? 'The test message was delivered. ' : '';
    return `${style.green('✔')} ${harmlessLine(saved)}\n${arrived}Next: put notify: {} into the .deploy.yml of each app to announce, commit and push it\n`;
  },
});
