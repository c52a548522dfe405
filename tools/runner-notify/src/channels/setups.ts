/** How each channel is set up: asks for what is missing and tries it; nothing is saved yet. */
import type { ChannelName } from '@runner/common/config/settings';
import type { Prepared, Situation } from '../setup/situation.ts';
import { setUpDiscord } from './discord/setup.ts';
import { setUpTelegram } from './telegram/setup.ts';

/** By channel, so that a new one cannot be forgotten. */
export const SETUPS: Readonly<Record<ChannelName, (situation: Situation) => Promise<Prepared>>> = {
  telegram: setUpTelegram,
  discord: setUpDiscord,
};
