/** How the channels are told to people; loaded at every start, so nothing heavy. */
import type { ChannelName } from '@runner/common/config/settings';
import { discordWords } from './discord/words.ts';
import { telegramWords } from './telegram/words.ts';
import type { Words } from './wording.ts';

/** The words of each channel, in the order in which results are printed. */
export const WORDS: Readonly<Record<ChannelName, Words>> = {
  telegram: telegramWords,
  discord: discordWords,
};

/** All channels, in that order. */
export const CHANNEL_NAMES = Object.keys(WORDS) as readonly ChannelName[];
