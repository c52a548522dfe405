/** What the command line offers about channels; loaded by every command. */
import type { Value } from '@runner/common/cli/option';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/channels';
import type { Answers } from '../service/contract.ts';
import { discordOptions } from './discord/options.ts';
import { emailOptions } from './email/options.ts';
import { ntfyOptions } from './ntfy/options.ts';
import { slackOptions } from './slack/options.ts';
import { telegramOptions } from './telegram/options.ts';
import { webhookOptions } from './webhook/options.ts';

/** `--channel`, which takes channels separated by commas, `both` or one of `more`. */
export function channelOption(about: string, ...more: readonly string[]): Value {
  return {
    kind: 'value',
    placeholder: 'CHANNEL',
    choices: [...CHANNEL_NAMES, 'both', ...more],
    list: true,
    about,
  };
}

/** The answers that setting a channel up needs, by option. */
export const ANSWERS: Readonly<Record<ChannelName, Answers>> = {
  telegram: telegramOptions,
  discord: discordOptions,
  slack: slackOptions,
  ntfy: ntfyOptions,
  email: emailOptions,
  webhook: webhookOptions,
};
