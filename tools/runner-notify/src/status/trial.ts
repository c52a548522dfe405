/** Test notifications: which channels get one, and the result. */

import { CHANNEL_NAMES, type ChannelName, channelsIn } from '@runner/common/config/channels';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { editConfig } from '@runner/common/config/edit';
import { readConfig } from '@runner/common/config/file';
import { activeChannels, notifySettingsOf } from '@runner/common/config/settings';
import { type TelemetrySettings, telemetryOf } from '@runner/common/config/telemetry';
import {
  isTelemetry,
  type TelemetryName,
  telemetryIn,
} from '@runner/common/config/telemetry-schema';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { connect, destinationDigest, redactorOf, whyInactive } from '../channels/credentials.ts';
import { CHANNELS } from '../channels/index.ts';
import { connectTelemetry } from '../channels/telemetry/telemetry.ts';
import type { Credentials, SendOutcome, ServiceProblem } from '../service/contract.ts';
import { type Locking, waitForChannel } from '../spool/spool.ts';
import { NO_TROUBLE, readState, type State, writeState } from '../spool/state.ts';

/** The result of one test notification; problems have the fields of `ServiceProblem`. */
export type TrialResult = {
  readonly channel: ChannelName | TelemetryName;
  /** `rejected`: the service refuses it; `failed`: it may be accepted later. */
  readonly result: 'delivered' | 'rejected' | 'failed' | 'not_active';
  /** What the service reported about the message. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** The new id of a group that became a supergroup; it is saved. */
  readonly moved_to?: string;
} & Partial<ServiceProblem>;

/** Sends one test notification to each active channel that `asked` names. Throws `not_configured`. */
export async function tryChannels(
  { io, paths, title }: Locking & { readonly io: Io },
  asked: string | undefined,
): Promise<TrialResult[]> {
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const active = activeChannels(settings);
  const wanted = asked === undefined ? active : channelsIn(asked);
  const telemetry = telemetryOf(config);
  const services = telemetryIn(asked).filter((name) => telemetry[name] || asked !== undefined);
  const redact = redactorOf(settings, chatSecretsOf(config));
  const tried = services.map(async (channel): Promise<TrialResult> => {
    if (!telemetry[channel]) return { channel, result: 'not_active' };
    const outcome = await connectTelemetry(channel, telemetry, { env: io.env, redact }).sendTest();
    const problem = outcome.class === 'delivered' ? null : outcome.problem;
    keepTrial({ io, paths, title }, channel, { ...settings, telemetry }, problem);
    return trialResult(channel, outcome);
  });
  if (tried.length === 0 && !wanted.some((name) => active.includes(name))) {
    const named = asked === undefined ? CHANNEL_NAMES : wanted;
    throw new Failure('not_configured', whyInactive(config, settings, named));
  }
  return Promise.all([
    ...wanted.map(async (channel): Promise<TrialResult> => {
      const connection = active.includes(channel) ? connect(channel, settings, io.env) : undefined;
      if (!connection) return { channel, result: 'not_active' };
      const outcome = await connection.sendTest();
      const delivered = outcome.class === 'delivered';
      const { movingKey } = CHANNELS[channel];
      if (delivered && outcome.movedTo !== undefined && movingKey !== undefined) {
        const change = { path: ['notify', movingKey], value: outcome.movedTo };
        editConfig({ paths, io, command: title }, [change]);
      }
      const moved = notifySettingsOf(readConfig(paths), io.env);
      keepTrial({ io, paths, title }, channel, moved, delivered ? null : outcome.problem);
      return trialResult(channel, outcome);
    }),
    ...tried,
  ]);
}

/** A test as it is printed. */
function trialResult(channel: TrialResult['channel'], outcome: SendOutcome): TrialResult {
  if (outcome.class !== 'delivered') {
    const { problem } = outcome;
    return { channel, result: problem.retryable ? 'failed' : 'rejected', ...problem };
  }
  const { accepted = { httpStatus: null, body: {} }, movedTo } = outcome;
  const http_status = accepted.httpStatus;
  if (isTelemetry(channel)) return { channel, result: 'delivered', http_status };
  const { method, reportOf } = CHANNELS[channel];
  return {
    channel,
    result: 'delivered',
    method,
    http_status,
    answer: reportOf(accepted.body),
    ...(movedTo !== undefined && { moved_to: movedTo }),
  };
}

/** Longest wait for a delivering process, in seconds; it will find out the same. */
const LOCK_WAIT = 2;

/**
 * Saves the result of a test message for `status`, `send` and `flush`. `problem` is null when it
 * arrived, undefined when it was not sent; without a problem a stopped destination is started again.
 * The command succeeds even if this cannot be saved.
 */
export function keepTrial(
  by: Locking,
  channel: TrialResult['channel'],
  credentials: Credentials & { readonly telemetry?: TelemetrySettings },
  problem: ServiceProblem | null | undefined,
): void {
  unlessFailure(() => {
    const lock = waitForChannel(by, channel, LOCK_WAIT);
    try {
      const digest = destinationDigest(credentials, channel);
      const state = readState(by.paths, channel, () => digest);
      const next = tried(state, by.io.now().toISOString(), problem);
      if (JSON.stringify(next) !== JSON.stringify(state))
        writeState(by.paths, channel, digest, next);
    } finally {
      lock.release();
    }
  }, undefined);
}

function tried(state: State, at: string, problem: ServiceProblem | null | undefined): State {
  if (problem) return { ...state, last_error: { at, ...problem } };
  const restarted = { ...state, stopped: null, trouble: NO_TROUBLE };
  return problem === null ? { ...restarted, last_success: at } : restarted;
}
