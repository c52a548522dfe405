/** What `runner notify status` prints about each channel. */

import { appNames } from '@runner/common/apps/store';
import {
  CHANNEL_NAMES,
  type ChannelName,
  type DestinationName,
  namedChannels,
} from '@runner/common/config/channels';
import { maxDeployRetries } from '@runner/common/config/settings';
import { TELEMETRY_NAMES, type TelemetryName } from '@runner/common/config/telemetry-schema';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { configExposure } from '@runner/common/guards/exposure';
import { Configured } from '../channels/configured.ts';
import { CHANNELS } from '../channels/index.ts';
import { appChoice } from '../deliver/selection.ts';
import { timeOfName } from '../spool/names.ts';
import { Spool } from '../spool/spool.ts';
import { readState } from '../spool/state.ts';

/** What `runner notify status --json` prints. */
export type NotifyStatus = Awaited<ReturnType<typeof notifyStatus>>['value'];
/** One channel: its configuration, its queue, what the service reports. */
export type ChannelStatus = NotifyStatus['channels'][number];
/** A service of section `telemetry`. */
export type RecordingStatus = NotifyStatus['telemetry'][number];
/** The queue of one destination in numbers. */
export type Backlog = ReturnType<typeof backlogOf>;

/**
 * Calls the services of configured channels unless `offline`. `inactive` and `warnings` are sentences
 * for people. Throws `config_invalid`.
 */
export async function notifyStatus(server: Server, offline: boolean) {
  const { paths } = server;
  const opened = new Configured(server);
  const { config, settings } = opened;
  const from: From = { server, opened, choices: choicesOf(paths) };
  const telemetry = TELEMETRY_NAMES.flatMap((name) => recordingOf(name, from));
  const exposed = configExposure(paths);
  const warnings = exposed === undefined ? [] : [exposed];
  const templates = opened.usableTemplates((text) => warnings.push(text));
  const channels = await Promise.all(
    CHANNEL_NAMES.map((name) => channelStatus(name, from, offline)),
  );
  const active = channels.filter((each) => each.active);
  const isBroken =
    telemetry.some(({ stopped }) => stopped) ||
    active.some(({ healthy, stopped }) => healthy === false || stopped);
  const value = {
    config: paths.config,
    /** Whether every active channel is healthy; null when no service was called. */
    healthy: isBroken ? false : active.some(({ healthy }) => healthy) || null,
    channels,
    /** The result of a deploy on its commit: `notify.commit_status`. */
    commit_status: { enabled: settings.commitStatus, ...backlogOf('code-host', from) },
    telemetry,
    /** The templates that are used, as `failure.telegram`. */
    templates,
    verbose_errors: settings.verboseErrors,
    max_deploy_retries: maxDeployRetries(config),
  };
  const isSilent = active.length + telemetry.length === 0 && !settings.commitStatus;
  return { value, inactive: isSilent ? opened.whyInactive() : undefined, warnings };
}

interface From {
  readonly server: Server;
  readonly opened: Configured;
  /** Each app, and the channels that its active release chooses. */
  readonly choices: readonly (readonly [app: string, choice: NotifyChoice])[];
}

/** None if this user may not read the registry. */
function choicesOf(paths: Paths): From['choices'] {
  const names = unlessFailure(() => appNames(paths), []);
  return names.map((app) => [app, appChoice(paths, app, 'default', () => {})]);
}

async function channelStatus(channel: ChannelName, from: From, offline: boolean) {
  const { opened, choices } = from;
  const { credentials, mask, shownOf } = CHANNELS[channel];
  const secret = opened.credentialAt(credentials[0]);
  const inspection = offline ? undefined : await opened.connect(channel)?.inspect();
  const backlog = backlogOf(channel, from);
  const restart =
    `\`runner notify setup --channel ${channel}\` sets another; ` +
    'if it is accepted again, `runner notify test` restarts the channel';
  return {
    channel,
    /** All its credentials are set. */
    configured: opened.settings[channel] !== undefined,
    active: opened.isActive(channel),
    /** Apps whose `.deploy.yml` names it. */
    named_by: choices.flatMap(([app, choice]) =>
      namedChannels(choice).includes(channel) ? [app] : [],
    ),
    /** Credentials that are missing. */
    missing: opened.missingOf(channel),
    /** The masked token, or the webhook's id; null when there is none. */
    secret: secret === '' ? null : mask(secret),
    // Configuration that is not secret, e.g. `chat_id`.
    ...shownOf(opened.settings),
    /** null with `--offline`. */
    healthy: inspection?.healthy ?? null,
    /** What the service reported: `bot`, `chat`, `rights`, or `webhook`. */
    answer: inspection?.facts ?? null,
    advice: [...(inspection?.advice ?? []), ...(backlog.stopped ? [restart] : [])],
    /** Why the service did not answer. */
    problem: inspection?.problem ?? null,
    ...backlog,
  };
}

/** Nothing for a service that is not configured. */
function recordingOf(channel: TelemetryName, from: From) {
  const { server, opened } = from;
  const { url } = opened.telemetry[channel] ?? {};
  if (url === undefined) return [];
  const oldest = timeOfName(new Spool(server.paths).names(channel)[0]);
  /** Seconds since the oldest event that waits; null: none does. */
  const lag_s = oldest === 0 ? null : Math.round((server.io.now().getTime() - oldest) / 1000);
  return [{ channel, url, lag_s, ...backlogOf(channel, from) }];
}

/** A damaged state, or one of other credentials, counts as empty. */
function backlogOf(name: DestinationName, { opened, server: { paths, io } }: From) {
  const spool = new Spool(paths);
  const { until, last_success, last_error, stopped } = readState(paths, name, () =>
    opened.digest(name),
  );
  const isAsked = until !== null && until > io.now().getTime();
  return {
    queued: spool.names(name).length,
    /** How many messages were given up. */
    dead: spool.names(name, 'dead').length,
    /** ISO 8601 UTC; null before the first delivery. */
    last_success,
    last_error,
    /** No message is sent until the destination is fixed. */
    stopped: stopped !== null,
    /** ISO 8601 UTC: the service asked to be left alone until then. */
    waits_until: isAsked ? new Date(until).toISOString() : null,
  };
}
