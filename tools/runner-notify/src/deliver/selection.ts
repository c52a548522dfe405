/** Which channels announce an event. */

import { type ChannelName, channelsIn } from '@runner/common/config/channels';
import type { NotifyChoice } from '@runner/common/deploy-file/read';

/** Why no channel announces an event. */
export type SkipReason =
  | 'not_configured'
  | 'channel_not_active'
  | 'app_without_notify'
  | 'no_notify'
  | 'events_off';

/** The channels that announce an event, or why none does. */
export type Selection =
  | { readonly channels: readonly ChannelName[] }
  | { readonly channels: readonly []; readonly reason: SkipReason };

/** `asked` is `--channel`, names and words separated by commas; without it `app`, what the app's `.deploy.yml` says, decides. */
export function select(
  active: readonly ChannelName[],
  asked: string | undefined,
  app: () => NotifyChoice,
): Selection {
  if (asked?.split(',').includes('none')) return { channels: [], reason: 'no_notify' };
  if (active.length === 0) return { channels: [], reason: 'not_configured' };
  const wanted = asked ?? app();
  if (wanted === 'none') return { channels: [], reason: 'app_without_notify' };
  const named = channelsIn(wanted);
  const channels = active.filter((name) => named.includes(name));
  return channels.length > 0 ? { channels } : { channels: [], reason: 'channel_not_active' };
}
