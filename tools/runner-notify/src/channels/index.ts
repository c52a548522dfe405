/** The services that deploys are announced in; a new one is a folder and a line here. */
import type { ChannelName } from '@runner/common/config/settings';
import type { SetUp } from '../dialogue/situation.ts';
import type { Service } from '../service/contract.ts';
import { discord } from './discord/discord.ts';
import { setUpDiscord } from './discord/setup.ts';
import { setUpTelegram } from './telegram/setup.ts';
import { telegram } from './telegram/telegram.ts';

/** By channel. */
export const CHANNELS: Readonly<Record<ChannelName, Service & { readonly setUp: SetUp }>> = {
  telegram: { ...telegram, setUp: setUpTelegram },
  discord: { ...discord, setUp: setUpDiscord },
};
