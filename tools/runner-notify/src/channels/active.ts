/** Which channels are active, and why a channel is not, in words that name the key to change. */

import { CHANNEL_NAMES, type ChannelName, channelsOf } from '@runner/common/config/channels';
import type { Config } from '@runner/common/config/file';
import { NO_CHANNEL, type NotifySettings, SET_UP } from '@runner/common/config/settings';
import { credentialAt } from './credentials.ts';
import { CHANNELS } from './index.ts';

/** Channels whose credentials are set and that the global `notify.channel`, if set, includes. */
export function activeChannels(settings: NotifySettings): ChannelName[] {
  const { channel } = settings;
  return CHANNEL_NAMES.filter(
    (name) =>
      settings[name] !== undefined && (channel === undefined || channelsOf(channel).includes(name)),
  );
}

/** One sentence on `wanted` channels of which none is active: the first key in the way, else what to run. */
export function whyInactive(
  config: Config,
  settings: NotifySettings,
  wanted: readonly ChannelName[] = CHANNEL_NAMES,
): string {
  const [only] = wanted;
  const none = wanted.length === 1 ? `${only} is not active` : NO_CHANNEL;
  const file = config.file.name;
  const missingOf = (name: ChannelName) =>
    CHANNELS[name].credentials.filter((key) => credentialAt(config, key) === '');
  const { channel } = settings;
  const ready = wanted.find((name) => settings[name] !== undefined);
  if (ready !== undefined && channel !== undefined) {
    const named = channelsOf(channel);
    const [first] = named;
    const missing =
      first === undefined || settings[first] ? '' : `, and ${notSet(missingOf(first))}`;
    const said = [channel].flat().join(', ') || 'an empty list';
    const both = channelsOf('both').includes(ready) && named.length === 1 ? ' or both' : '';
    return `${none}: notify.channel is ${said}${missing}; set notify.channel to ${ready}${both} in ${file}`;
  }
  const half = wanted.find((name) => {
    const count = missingOf(name).length;
    return count > 0 && count < CHANNELS[name].credentials.length;
  });
  if (half !== undefined) return `${none}: ${notSet(missingOf(half))} in ${file}`;
  return `${none}: ${SET_UP}, or see section notify of ${file}`;
}

function notSet(keys: readonly string[]): string {
  return `${keys.join(' and ')} ${keys.length === 1 ? 'is' : 'are'} not set`;
}
