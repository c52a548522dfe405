/** Which channels hear of an event. */

import type { ChannelName, NotifySettings } from '@runner/common/config/settings';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { CHANNEL_NAMES } from './channels/words.ts';

/** Why no channel hears of an event. */
export type SkipReason =
  | 'not_configured'
  | 'channel_not_active'
  | 'app_without_notify'
  | 'no_notify';

/** The channels that hear of an event, or why none does. */
export type Selection =
  | { readonly channels: readonly ChannelName[] }
  | { readonly channels: readonly []; readonly reason: SkipReason };

/** Channels whose credentials are set and that the global `notify.channel`, if set, includes. */
export function activeChannels(settings: NotifySettings): ChannelName[] {
  return CHANNEL_NAMES.filter(
    (name) => settings[name] !== undefined && includes(settings.channel ?? 'both', name),
  );
}

/** `asked` is `--channel`; without it `app`, what the app's `.deploy.yml` says, decides. */
export function select(
  active: readonly ChannelName[],
  asked: ChannelName | 'both' | 'none' | undefined,
  app: () => NotifyChoice,
): Selection {
  if (asked === 'none') return { channels: [], reason: 'no_notify' };
  if (active.length === 0) return { channels: [], reason: 'not_configured' };
  const wanted = asked ?? app();
  if (wanted === 'none') return { channels: [], reason: 'app_without_notify' };
  const channels = active.filter((name) => includes(wanted, name));
  return channels.length > 0 ? { channels } : { channels: [], reason: 'channel_not_active' };
}

function includes(choice: ChannelName | 'both' | 'all', name: ChannelName): boolean {
  return choice === 'both' || choice === 'all' || choice === name;
}
