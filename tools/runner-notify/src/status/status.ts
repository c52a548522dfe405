/** What `runner notify status` prints about each channel. */

import { appNames } from '@runner/common/apps/store';
import {
  CHANNEL_NAMES,
  type ChannelName,
  type DestinationName,
  namedChannels,
} from '@runner/common/config/channels';
import { type Config, readConfig } from '@runner/common/config/file';
import {
  activeChannels,
  maxDeployRetries,
  type NotifySettings,
  notifySettingsOf,
} from '@runner/common/config/settings';
import { type TelemetrySettings, telemetryOf } from '@runner/common/config/telemetry';
import { TELEMETRY_NAMES, type TelemetryName } from '@runner/common/config/telemetry-schema';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { connect, credentialAt, destinationDigest, whyInactive } from '../channels/credentials.ts';
import { CHANNELS } from '../channels/index.ts';
import { checkTemplates, templateWarning } from '../channels/templates.ts';
import { appChoice } from '../deliver/selection.ts';
import type { ServiceProblem } from '../service/contract.ts';
import type { Fields } from '../service/fields.ts';
import { timeOfName } from '../spool/names.ts';
import { Spool } from '../spool/spool.ts';
import { readState, type State } from '../spool/state.ts';

/** The queue of one channel in numbers. */
export interface Backlog {
  readonly queued: number;
  /** How many messages were given up. */
  readonly dead: number;
  /** ISO 8601 UTC; null before the first delivery. */
  readonly last_success: string | null;
  /** The last problem and its time. */
  readonly last_error: State['last_error'];
  /** No message is sent until the destination is fixed. */
  readonly stopped: boolean;
  /** ISO 8601 UTC: the service asked to be left alone until then. */
  readonly waits_until: string | null;
}

/** One channel: its configuration, its queue, what the service reports. */
export interface ChannelStatus extends Backlog {
  readonly channel: ChannelName;
  /** All its credentials are set. */
  readonly configured: boolean;
  /** Configured, and included by `notify.channel`. */
  readonly active: boolean;
  /** Apps whose `.deploy.yml` names it. */
  readonly named_by: readonly string[];
  /** Credentials that are missing. */
  readonly missing: readonly string[];
  /** The masked token, or the webhook's id; null when there is none. */
  readonly secret: string | null;
  /** Configuration that is not secret, e.g. `chat_id`. */
  readonly [shown: string]: unknown;
  /** null with `--offline`. */
  readonly healthy: boolean | null;
  /** What the service reported: `bot`, `chat`, `rights`, or `webhook`. */
  readonly answer: Fields | null;
  readonly advice: readonly string[];
  /** Why the service did not answer. */
  readonly problem: ServiceProblem | null;
}

/** A service of section `telemetry`. */
export interface RecordingStatus extends Backlog {
  readonly channel: TelemetryName;
  readonly url: string;
  /** Seconds since the oldest event that waits; null: none does. */
  readonly lag_s: number | null;
}

/** What `runner notify status --json` prints. */
export interface NotifyStatus {
  readonly config: string;
  /** Whether every active channel is healthy; null when no service was called. */
  readonly healthy: boolean | null;
  readonly channels: readonly ChannelStatus[];
  /** The result of a deploy on its commit: `notify.commit_status`. */
  readonly commit_status: Backlog & { readonly enabled: boolean };
  /** The services that record deploys. */
  readonly telemetry: readonly RecordingStatus[];
  /** The templates that are used, as `failure.telegram`. */
  readonly templates: readonly string[];
  readonly verbose_errors: boolean;
  readonly max_deploy_retries: number;
}

/**
 * Calls the services of configured channels unless `offline`. `inactive` and `warnings` are sentences
 * for people. Throws `config_invalid`.
 */
export async function notifyStatus(
  paths: Paths,
  io: Io,
  offline: boolean,
): Promise<{ value: NotifyStatus; inactive: string | undefined; warnings: readonly string[] }> {
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const targets = telemetryOf(config);
  const own = { ...settings, telemetry: targets };
  const from = { paths, settings: own, io, choices: choicesOf(paths) };
  const exposed = configExposure(paths);
  const warnings = exposed === undefined ? [] : [exposed];
  const templates = checkTemplates(config, settings, (invalid) => {
    warnings.push(templateWarning(invalid));
  });
  const channels = await Promise.all(
    CHANNEL_NAMES.map((name) => channelStatus(name, config, from, offline)),
  );
  const active = channels.filter((each) => each.active);
  const telemetry = TELEMETRY_NAMES.flatMap((name) => recordingOf(name, from));
  const value: NotifyStatus = {
    config: paths.config,
    healthy: telemetry.some(({ stopped }) => stopped) ? false : healthOf(active),
    channels,
    commit_status: { enabled: settings.commitStatus, ...backlogOf('code-host', from) },
    telemetry,
    templates,
    verbose_errors: settings.verboseErrors,
    max_deploy_retries: maxDeployRetries(config),
  };
  const isSilent = active.length + telemetry.length === 0 && !settings.commitStatus;
  const inactive = isSilent ? whyInactive(config, settings) : undefined;
  return { value, inactive, warnings };
}

function healthOf(active: readonly ChannelStatus[]): boolean | null {
  if (active.some(({ healthy, stopped }) => healthy === false || stopped)) return false;
  return active.some(({ healthy }) => healthy) ? true : null;
}

interface From {
  readonly paths: Paths;
  readonly settings: NotifySettings & { readonly telemetry: TelemetrySettings };
  readonly io: Io;
  /** Each app, and the channels that its active release chooses. */
  readonly choices: readonly (readonly [app: string, choice: NotifyChoice])[];
}

/** None if this user may not read the registry. */
function choicesOf(paths: Paths): From['choices'] {
  const names = unlessFailure(() => appNames(paths), []);
  return names.map((app) => [app, appChoice(paths, app, 'default', () => {})]);
}

async function channelStatus(
  channel: ChannelName,
  config: Config,
  from: From,
  offline: boolean,
): Promise<ChannelStatus> {
  const { settings, io } = from;
  const { credentials, mask, shownOf } = CHANNELS[channel];
  const secret = credentialAt(config, credentials[0]);
  const connection = offline ? undefined : connect(channel, settings, io.env);
  const inspection = await connection?.inspect();
  const backlog = backlogOf(channel, from);
  const restart =
    `\`runner notify setup --channel ${channel}\` sets another; ` +
    'if it is accepted again, `runner notify test` restarts the channel';
  return {
    channel,
    configured: settings[channel] !== undefined,
    active: activeChannels(settings).includes(channel),
    named_by: from.choices.flatMap(([app, choice]) =>
      namedChannels(choice).includes(channel) ? [app] : [],
    ),
    missing: credentials.filter((key) => credentialAt(config, key) === ''),
    secret: secret === '' ? null : mask(secret),
    ...shownOf(settings),
    healthy: inspection?.healthy ?? null,
    answer: inspection?.facts ?? null,
    advice: [...(inspection?.advice ?? []), ...(backlog.stopped ? [restart] : [])],
    problem: inspection?.problem ?? null,
    ...backlog,
  };
}

/** Nothing for a service that is not configured. */
function recordingOf(channel: TelemetryName, from: From): RecordingStatus[] {
  const { url } = from.settings.telemetry[channel] ?? {};
  if (url === undefined) return [];
  const oldest = timeOfName(new Spool(from.paths).names(channel)[0]);
  const lag_s = oldest === 0 ? null : Math.round((from.io.now().getTime() - oldest) / 1000);
  return [{ channel, url, lag_s, ...backlogOf(channel, from) }];
}

/** A damaged state, or one of other credentials, counts as empty. */
function backlogOf(
  channel: DestinationName,
  { paths, settings, io }: Omit<From, 'choices'>,
): Backlog {
  const spool = new Spool(paths);
  const { until, last_success, last_error, stopped } = readState(paths, channel, () =>
    destinationDigest(settings, channel),
  );
  return {
    queued: spool.names(channel).length,
    dead: spool.names(channel, 'dead').length,
    last_success,
    last_error,
    stopped: stopped !== null,
    waits_until:
      until !== null && until > io.now().getTime() ? new Date(until).toISOString() : null,
  };
}
