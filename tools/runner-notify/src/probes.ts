/** Which channels can be asked, and the lines to ask them on. */

import type { Io } from '@runner/common/io';
import { redactor } from '@runner/common/secret';
import type { ChannelName, NotifySettings } from '@runner/common/settings';
import { discordProbe } from './channels/discord/probe.ts';
import type { Probe } from './channels/probe.ts';
import type { Wire } from './channels/reply.ts';
import { telegramProbe } from './channels/telegram/probe.ts';
import { secretsOf } from './credentials.ts';

/** What is told goes through a redactor that knows the settings' secrets; `signal` ends exchanges. */
export function wireOf(
  settings: Pick<NotifySettings, 'telegram' | 'discord'>,
  env: Io['env'],
  signal?: AbortSignal,
): Wire {
  return { env, redact: redactor(secretsOf(settings)), ...(signal && { signal }) };
}

/** A probe of a channel whose credentials are set; undefined for another. */
export function probeOf(
  name: ChannelName,
  settings: Pick<NotifySettings, 'telegram' | 'discord'>,
  env: Io['env'],
  signal?: AbortSignal,
): Probe | undefined {
  const wire = wireOf(settings, env, signal);
  const { telegram, discord } = settings;
  if (name === 'telegram') return telegram && telegramProbe(telegram, wire);
  return discord && discordProbe(discord, wire);
}
