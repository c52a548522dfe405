/** What the command line offers about channels; loaded by every command. */
import type { Value } from '@runner/common/cli/option';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/channels';
import type { Answers, SetupAnswer } from '../service/contract.ts';

/** `--channel`, which takes channels separated by commas, `both` or one of `more`. */
export function channelOption(about: string, ...more: readonly string[]): Value {
  return {
    placeholder: 'CHANNEL',
    choices: [...CHANNEL_NAMES, 'both', ...more],
    list: true,
    about,
  };
}

/** A chat id; core.telegram.org/bots/api#sendmessage. */
export const CHAT_ID = /^(?:-?(?!0+$)\d{1,19}|@[A-Za-z0-9_]{4,64})$/;
/** A topic of a group. */
export const THREAD_ID = /^[1-9]\d{0,14}$/;

type ChannelOption = Omit<SetupAnswer, 'about' | 'placeholder'> & { readonly placeholder?: string };

/** The options of a channel. Secrets come from files. */
const answers = (title: string, rows: Readonly<Record<string, ChannelOption>>): Answers =>
  Object.fromEntries(
    Object.entries(rows).map(([option, row]) => {
      const about = `${title}: ${row.variable ? 'a file with ' : ''}${row.what}${row.form ?? ''}`;
      return [option, { placeholder: 'FILE', ...row, about }];
    }),
  );

/** The answers that setting a channel up needs, by option. */
export const ANSWERS: Readonly<Record<ChannelName, Answers>> = {
  telegram: answers('Telegram', {
    'token-file': { variable: 'RUNNER_TELEGRAM_TOKEN', what: 'the bot token' },
    'chat-id': {
      placeholder: 'ID',
      what: 'the chat',
      form: ', negative for groups and channels, or @name',
      pattern: CHAT_ID,
      wanted:
        'a whole number but 0, negative for groups and channels, or @name of 4 or more characters',
    },
    'thread-id': {
      placeholder: 'N',
      what: 'the topic of a group with topics',
      pattern: THREAD_ID,
      wanted: 'a whole number above 0',
      optional: true,
    },
  }),
  discord: answers('Discord', {
    'webhook-file': { variable: 'RUNNER_DISCORD_WEBHOOK', what: 'the webhook address' },
  }),
  slack: answers('Slack', {
    'slack-webhook-file': {
      key: 'webhook',
      variable: 'RUNNER_SLACK_WEBHOOK',
      what: 'the address of the incoming webhook',
    },
  }),
  ntfy: answers('ntfy', {
    'ntfy-url-file': {
      key: 'url',
      variable: 'RUNNER_NTFY_URL',
      what: 'the address of the topic',
      form: ', e.g. https://ntfy.sh/TOPIC',
    },
    'ntfy-token-file': {
      key: 'token',
      variable: 'RUNNER_NTFY_TOKEN',
      what: 'the access token of a protected topic',
      optional: true,
    },
  }),
  email: answers('E-mail', {
    'smtp-file': {
      key: 'smtp',
      variable: 'RUNNER_SMTP',
      what: 'the address of the mail server',
      form: ', smtps://USER:PASSWORD@HOST:465',
    },
    'email-from': { key: 'from', placeholder: 'ADDRESS', what: 'the sender' },
    'email-to': {
      key: 'to',
      placeholder: 'ADDRESSES',
      what: 'the recipients',
      form: ', separated by commas',
    },
  }),
  webhook: answers('Webhook', {
    'webhook-url-file': {
      key: 'url',
      variable: 'RUNNER_WEBHOOK_URL',
      what: 'the address that gets the events',
    },
    'webhook-secret-file': {
      key: 'secret',
      variable: 'RUNNER_WEBHOOK_SECRET',
      what: 'the signing key',
      form: ' (whsec_ followed by base64)',
    },
  }),
};
