/** Everything that is known about each channel; what `runner notify status` prints. */
import { type Config, readConfig } from '@runner/common/config/file';
import {
  type ChannelName,
  maxDeployRetries,
  type NotifySettings,
  notifySettingsOf,
} from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { type Backlog, backlogOf } from './backlog.ts';
import type { Problem } from './channels/channel.ts';
import type { Fields } from './channels/fields.ts';
import { SERVICES } from './channels/services.ts';
import { CHANNEL_NAMES, WORDS } from './channels/words.ts';
import { credentialAt, destinationDigest } from './credentials.ts';
import { whyInactive } from './inactive.ts';
import { probeOf } from './probing.ts';
import { activeChannels } from './selection.ts';
import { checkTemplates } from './template-check.ts';

/** One channel: what is set, what waits, what the service says. */
export interface ChannelStatus extends Backlog {
  readonly channel: ChannelName;
  /** All its credentials are set. */
  readonly configured: boolean;
  /** Configured, and included by `notify.channel`. */
  readonly active: boolean;
  /** Credentials that are missing. */
  readonly missing: readonly string[];
  /** The masked token, or the webhook's id; null when there is none. */
  readonly secret: string | null;
  readonly chat_id?: string;
  readonly thread_id?: number;
  /** null when the service was not asked. */
  readonly healthy: boolean | null;
  /** What the service told: `bot`, `chat`, `rights`, or `webhook`. */
  readonly answer: Fields | null;
  readonly advice: readonly string[];
  /** Why the service told nothing. */
  readonly problem: Problem | null;
}

/** What `runner notify status --json` prints. */
export interface NotifyStatus {
  readonly config: string;
  /** Whether every active channel is healthy; null when none was asked. */
  readonly healthy: boolean | null;
  readonly channels: readonly ChannelStatus[];
  /** The templates that are set, as `failure.telegram`. */
  readonly templates: readonly string[];
  readonly verbose_errors: boolean;
  readonly max_deploy_retries: number;
}

/**
 * Asks the services about configured channels unless `offline`. `inactive` and `exposed` are
 * sentences for people. Throws `config_invalid`.
 */
export async function notifyStatus(
  paths: Paths,
  io: Io,
  offline: boolean,
): Promise<{ value: NotifyStatus; inactive: string | undefined; exposed: string | undefined }> {
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const templates = checkTemplates(config, settings);
  const channels = await Promise.all(
    CHANNEL_NAMES.map((name) => channelStatus(name, config, settings, paths, io, offline)),
  );
  const active = channels.filter((each) => each.active);
  const value: NotifyStatus = {
    config: paths.config,
    healthy: healthOf(active),
    channels,
    templates,
    verbose_errors: settings.verboseErrors,
    max_deploy_retries: maxDeployRetries(config),
  };
  const inactive = active.length === 0 ? whyInactive(config, settings) : undefined;
  return { value, inactive, exposed: configExposure(paths) };
}

function healthOf(active: readonly ChannelStatus[]): boolean | null {
  if (active.some(({ healthy, stopped }) => healthy === false || stopped)) return false;
  return active.some(({ healthy }) => healthy) ? true : null;
}

async function channelStatus(
  channel: ChannelName,
  config: Config,
  settings: NotifySettings,
  paths: Paths,
  io: Io,
  offline: boolean,
): Promise<ChannelStatus> {
  const { credentials } = WORDS[channel];
  const { mask, shownOf } = SERVICES[channel];
  const secret = credentialAt(config, credentials[0]);
  const inspection = offline ? undefined : await probeOf(channel, settings, io.env)?.inspect();
  return {
    channel,
    configured: settings[channel] !== undefined,
    active: activeChannels(settings).includes(channel),
    missing: credentials.filter((key) => credentialAt(config, key) === ''),
    secret: secret === '' ? null : mask(secret),
    ...shownOf(settings),
    healthy: inspection?.healthy ?? null,
    answer: inspection?.facts ?? null,
    advice: inspection?.advice ?? [],
    problem: inspection?.problem ?? null,
    ...backlogOf(paths, channel, destinationDigest(settings, channel), io.now()),
  };
}
