/** Which channels announce an event. */

import { realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findApp } from '@runner/common/apps/store';
import { isStateEvent } from '@runner/common/audit/events';
import {
  CHANNEL_NAMES,
  channelsIn,
  type DestinationName,
  namedChannels,
} from '@runner/common/config/channels';
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
import { commitMessage } from '../channels/code-host/message.ts';
import type { Announceable } from '../message/records.ts';
import type { OpenChannels } from './channels.ts';
import type { SkipReason } from './result.ts';

/**
 * Where a record is announced, or why it is not. `asked` is `--channel`, names and words separated by
 * commas; without it the app's `.deploy.yml` decides. `showAll`: on every channel if none is active.
 */
export function destinationsOf(
  opened: OpenChannels,
  record: Announceable,
  instance: string,
  { channel: asked, showAll }: { readonly channel: string | undefined; readonly showAll?: boolean },
): readonly DestinationName[] | SkipReason {
  const { kind, project } = record;
  if (kind !== 'Digest' && isStateEvent(kind) && !opened.settings.events) return 'events_off';
  const isSilenced = asked?.split(',').includes('none');
  const isMeant = opened.isActive('code-host') && !isSilenced && commitMessage(record);
  const status = isMeant ? (['code-host'] as const) : [];
  const orWhy = (reason: SkipReason) => (status.length > 0 ? status : reason);
  if (asked === 'code-host') return orWhy('channel_not_active');
  if (isSilenced) return 'no_notify';
  const active = showAll && opened.active.length === 0 ? CHANNEL_NAMES : opened.active;
  if (active.length === 0) {
    if (status.length === 0) opened.noteOnce(opened.whyInactive());
    return orWhy('not_configured');
  }
  const wanted = asked ?? appChoice(opened.options.paths, project, instance, opened.noteOnce);
  if (wanted === 'none') return orWhy('app_without_notify');
  for (const name of namedChannels(wanted))
    if (!active.includes(name)) opened.noteOnce(opened.whyInactive([name]));
  const channels = channelsIn(wanted).filter((name) => active.includes(name));
  return channels.length > 0 ? [...channels, ...status] : orWhy('channel_not_active');
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
    return readDeployFile(bytes?.length ? bytes : undefined, DEPLOY_FILE, true).notify;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    warn(`${project}: ${error.message}; the message goes to every active channel`);
    return 'all';
  }
}
