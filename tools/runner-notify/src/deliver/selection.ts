/** Which channels announce an event. */

import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findApp } from '@runner/common/apps/store';
import { type ChannelName, channelsIn, namedChannels } from '@runner/common/config/channels';
import {
  DEPLOY_FILE,
  DEPLOY_FILE_MAX,
  type NotifyChoice,
  readDeployFile,
} from '@runner/common/deploy-file/read';
import { isThere, readIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { isAppName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';

/** Why no channel announces an event. */
export type SkipReason =
  | 'not_configured'
  | 'channel_not_active'
  | 'app_without_notify'
  | 'no_notify'
  | 'events_off';

/** The channels that announce an event, or why none does. */
export interface Selection {
  readonly channels: readonly ChannelName[];
  readonly reason?: SkipReason;
  /** Channels that were named but are not active. */
  readonly inactive?: readonly ChannelName[];
}

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
  const inactive = namedChannels(wanted).filter((name) => !active.includes(name));
  return { channels, inactive, ...(channels.length === 0 && { reason: 'channel_not_active' }) };
}

/**
 * The `notify` of the active release's `.deploy.yml`; all channels for an app that is not registered,
 * has no active release or whose files cannot be read.
 */
export function appChoice(
  paths: Paths,
  project: string,
  instance: string,
  warn: (text: string) => void,
): NotifyChoice {
  if (!isAppName(project)) return 'all';
  try {
    const app = findApp(paths, project);
    if (!app) return 'all';
    const { instance: pathsOf } = paths.app(project);
    // The instance comes from outside: only valid names become a path.
    const names = [instance, ...Object.keys(app.instances)].filter(isAppName);
    const current = names.map((name) => pathsOf(name).current).find(isThere);
    if (current === undefined) return 'all';
    // What the release was made with need not be in it.
    const release = basename(orElse(() => realpathSync(current), current));
    const bytes =
      readIfThere(paths.app(project).fileOf(release), DEPLOY_FILE_MAX) ??
      readIfThere(join(current, DEPLOY_FILE), DEPLOY_FILE_MAX);
    return readDeployFile(bytes?.length ? bytes : undefined).notify;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    warn(`${project}: ${error.message}; the message goes to every active channel`);
    return 'all';
  }
}
