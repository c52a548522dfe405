/** Why a channel is not active, in words that name the key to change. */
import type { Config } from '@runner/common/config/file';
import {
  type ChannelName,
  NO_CHANNEL,
  type NotifySettings,
  SET_UP,
} from '@runner/common/config/settings';
import { CHANNEL_NAMES, WORDS } from './channels/words.ts';
import { credentialAt } from './credentials.ts';

/**
 * One sentence about channels of which none is active: the first key that stands in the way, else
 * what to run.
 */
export function whyInactive(
  config: Config,
  settings: NotifySettings,
  wanted: readonly ChannelName[] = CHANNEL_NAMES,
): string {
  const [only] = wanted;
  const none = wanted.length === 1 ? `${only} is not active` : NO_CHANNEL;
  const file = config.file.name;
  const missingOf = (name: ChannelName) =>
    WORDS[name].credentials.filter((key) => credentialAt(config, key) === '');
  const { channel } = settings;
  const ready = wanted.find((name) => settings[name] !== undefined);
  if (ready !== undefined && channel !== undefined && channel !== 'both') {
    const missing = settings[channel] ? '' : `, and ${missingOf(channel).join(' and ')} is not set`;
    return `${none}: notify.channel is ${channel}${missing}; set notify.channel to ${ready} or both in ${file}`;
  }
  const half = wanted.find((name) => {
    const count = missingOf(name).length;
    return count > 0 && count < WORDS[name].credentials.length;
  });
  if (half !== undefined) return `${none}: ${missingOf(half).join(' and ')} is not set in ${file}`;
  return `${none}: ${SET_UP}, or see section notify of ${file}`;
}
