/** Test notifications: which channels get one, and the result. */

import { CHANNEL_NAMES, type ChannelName, channelsIn } from '@runner/common/config/channels';
import { editConfig } from '@runner/common/config/edit';
import {
  isTelemetry,
  type TelemetryName,
  telemetryIn,
} from '@runner/common/config/telemetry-schema';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { Configured } from '../channels/configured.ts';
import { CHANNELS } from '../channels/index.ts';
import type { Channel, SendOutcome, ServiceProblem } from '../service/contract.ts';
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

/** Sends one test notification to each active channel that `asked` names. Throws `not_configured`, `config_invalid`. */
export async function tryChannels(by: Locking, asked: string | undefined): Promise<TrialResult[]> {
  const opened = new Configured(by);
  // Refuses the file that `send` refuses.
  void opened.telemetry;
  const channels = asked === undefined ? opened.active : channelsIn(asked);
  const services = telemetryIn(asked).filter(
    (name) => asked !== undefined || opened.isActive(name),
  );
  if (services.length === 0 && !channels.some((name) => opened.isActive(name))) {
    const named = asked === undefined ? CHANNEL_NAMES : channels;
    throw new Failure('not_configured', opened.whyInactive(named));
  }
  const names = [...channels, ...services];
  return Promise.all(
    names.map(async (channel): Promise<TrialResult> => {
      if (!opened.isActive(channel)) return { channel, result: 'not_active' };
      const outcome = await (opened.connect(channel) as Channel).sendTest();
      const isDelivered = outcome.class === 'delivered';
      const movingKey = isTelemetry(channel) ? undefined : CHANNELS[channel].movingKey;
      if (isDelivered && outcome.movedTo !== undefined && movingKey !== undefined) {
        const change = { path: ['notify', movingKey], value: outcome.movedTo };
        editConfig({ ...by, command: by.title }, [change]);
      }
      keepTrial(by, channel, isDelivered ? null : outcome.problem);
      return trialResult(channel, outcome);
    }),
  );
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
  problem: ServiceProblem | null | undefined,
): void {
  unlessFailure(() => {
    const digest = new Configured(by).digest(channel);
    using _lock = waitForChannel(by, channel, LOCK_WAIT);
    const state = readState(by.paths, channel, () => digest);
    const next = tried(state, by.io.now().toISOString(), problem);
    if (JSON.stringify(next) !== JSON.stringify(state)) writeState(by.paths, channel, digest, next);
  }, undefined);
}

function tried(state: State, at: string, problem: ServiceProblem | null | undefined): State {
  if (problem) return { ...state, last_error: { at, ...problem } };
  const restarted = { ...state, stopped: null, trouble: NO_TROUBLE };
  return problem === null ? { ...restarted, last_success: at } : restarted;
}
