/** The services that deploys are announced in. */
import type { ChannelName } from '@runner/common/config/settings';
import { discordService } from './discord/service.ts';
import type { Service } from './service.ts';
import { telegramService } from './telegram/service.ts';

/** By channel, so that a new one cannot be forgotten. */
export const SERVICES: Readonly<Record<ChannelName, Service>> = {
  telegram: telegramService,
  discord: discordService,
};
