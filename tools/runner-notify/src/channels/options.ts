/** What the command line offers about channels; loaded by every command. */
import type { Value } from '@runner/common/cli/option';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/settings';
import type { Answers } from '../service/contract.ts';
import { discordOptions } from './discord/options.ts';
import { telegramOptions } from './telegram/options.ts';

/** `--channel`, which takes a channel, `both` or one of `more`. */
export function channelOption(about: string, ...more: readonly string[]): Value {
  return {
    kind: 'value',
    placeholder: 'CHANNEL',
    choices: [...CHANNEL_NAMES, 'both', ...more],
    about,
  };
}

/** The answers that setting a channel up needs, by option. */
export const ANSWERS: Readonly<Record<ChannelName, Answers>> = {
  telegram: telegramOptions,
  discord: discordOptions,
};
