import { command } from '@runner/common/cli/command';
import { harmlessLine } from '@runner/common/text/harmless';
import type { SetupReport } from '../setup/setting-up.ts';

export const setup = command({
  name: 'setup',
  about: 'Set up Telegram, Discord or both, and save it in config.yml',
  details: [
    'On a terminal it asks: for Telegram the token of a bot, then for a message to the bot, by which',
    'it finds the chat; for Discord the address of a webhook. It sends a test message and saves.',
    'Until then nothing is changed; Ctrl-C ends it at any point.',
    '',
    'Without a terminal everything comes from options, files and the environment:',
    'RUNNER_TELEGRAM_TOKEN and RUNNER_DISCORD_WEBHOOK stand for the two files. A file is named',
    'because an argument would be visible in the process list; `-` is standard input.',
  ].join('\n'),
  options: {
    channel: {
      kind: 'value',
      placeholder: 'CHANNEL',
      choices: ['telegram', 'discord', 'both'],
      about: 'What to set up [default: what the other options are about, else asked]',
    },
    'token-file': {
      kind: 'value',
      placeholder: 'FILE',
      about: 'Telegram: a file with the bot token',
    },
    'chat-id': {
      kind: 'value',
      placeholder: 'ID',
      about: 'Telegram: the chat, negative for groups and channels, or @name',
    },
    'thread-id': {
      kind: 'value',
      placeholder: 'N',
      about: 'Telegram: the topic of a group with topics',
    },
    'webhook-file': {
      kind: 'value',
      placeholder: 'FILE',
      about: 'Discord: a file with the webhook address',
    },
    'no-test': { kind: 'flag', about: 'Send no test message' },
  },
  examples: [
    'runner notify setup',
    'runner notify setup --channel telegram --token-file /root/bot-token --chat-id -1001234567890',
    'runner notify setup --channel discord --webhook-file - < /root/webhook',
  ],
  async run(context) {
    const { setUp } = await import('../setup/setting-up.ts');
    return { value: await setUp(context) };
  },
  human({ config, channel, channels }: SetupReport, style) {
    const names = channels.map((each) => `${each.channel}${each.tested ? '' : ' (not tested)'}`);
    return `${style.green('✔')} ${harmlessLine(`saved ${names.join(' and ')} in ${config}; channel: ${channel}`)}\n`;
  },
});
