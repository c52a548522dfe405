/** How each service is asked about a destination; undefined when its credentials are not set. */
import type { ChannelName } from '@runner/common/config/settings';
import { discordProbe } from './discord/probe.ts';
import type { Probe } from './probe.ts';
import type { Wire } from './reply.ts';
import type { Credentials } from './service.ts';
import { telegramProbe } from './telegram/probe.ts';

/** By channel, so that a new one cannot be forgotten. */
export const PROBES: Readonly<
  Record<ChannelName, (credentials: Credentials, wire: Wire) => Probe | undefined>
> = {
  telegram: ({ telegram }, wire) => telegram && telegramProbe(telegram, wire),
  discord: ({ discord }, wire) => discord && discordProbe(discord, wire),
};
