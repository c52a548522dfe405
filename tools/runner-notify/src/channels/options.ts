/** What the command line offers about channels; loaded by every command. */
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/settings';
import type { Answers } from '../service/contract.ts';
import { discordOptions } from './discord/options.ts';
import { telegramOptions } from './telegram/options.ts';

/** Values of `--channel`. */
export const CHANNEL_CHOICES: readonly string[] = [...CHANNEL_NAMES, 'both'];

/** The answers that setting a channel up needs, by option. */
export const ANSWERS: Readonly<Record<ChannelName, Answers>> = {
  telegram: telegramOptions,
  discord: discordOptions,
};
