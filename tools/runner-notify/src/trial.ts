/** Test notifications: which channels get one, and what came of it. */

import { readConfig } from '@runner/common/config';
import { editConfig } from '@runner/common/config-edit';
import { Failure } from '@runner/common/failure';
import type { Io } from '@runner/common/io';
import type { Paths } from '@runner/common/paths';
import { type ChannelName, notifySettingsOf } from '@runner/common/settings';
import type { Problem } from './channels/channel.ts';
import type { Trial } from './channels/probe.ts';
import { CHANNEL_NAMES, WORDS } from './channels/words.ts';
import { probeOf } from './probes.ts';
import { activeChannels } from './selection.ts';
import { resumeDestination } from './spool/destination.ts';

/** What came of one test notification; problems have the fields of `Problem`. */
export type TrialResult = {
  readonly channel: ChannelName;
  /** `rejected`: the service refuses it; `failed`: it may be taken later. */
  readonly result: 'delivered' | 'rejected' | 'failed' | 'not_active';
  /** What the service answered about the message. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** The group's id since it became a supergroup; it is saved. */
  readonly moved_to?: string;
} & Partial<Problem>;

/** Sends one test notification to each active channel that `asked` names. Throws `not_configured`. */
export async function tryChannels(
  paths: Paths,
  io: Io,
  asked: ChannelName | 'both' | undefined,
): Promise<TrialResult[]> {
  const settings = notifySettingsOf(readConfig(paths), io.env);
  const active = activeChannels(settings);
  const named = CHANNEL_NAMES.filter((name) => asked === 'both' || asked === name);
  const wanted = asked === undefined ? active : named;
  if (!wanted.some((name) => active.includes(name))) throw notConfigured(paths, asked);
  return Promise.all(
    wanted.map(async (channel): Promise<TrialResult> => {
      const probe = active.includes(channel) ? probeOf(channel, settings, io.env) : undefined;
      if (!probe) return { channel, result: 'not_active' };
      const trial = await probe.sendTest();
      const { movingKey } = WORDS[channel];
      if (trial.delivered && trial.movedTo !== undefined && movingKey !== undefined) {
        const change = { path: ['notify', movingKey], value: trial.movedTo };
        editConfig(paths, io, 'notify test', [change]);
      }
      if (trial.delivered) resumeDestination(paths, channel);
      return trialResult(channel, trial);
    }),
  );
}

/** A trial as it is printed. */
export function trialResult(channel: ChannelName, trial: Trial): TrialResult {
  if (!trial.delivered) {
    const { hint, ...problem } = trial.problem;
    const result = problem.retryable ? 'failed' : 'rejected';
    return { channel, result, ...problem, ...(hint !== undefined && { hint }) };
  }
  const { method, httpStatus, answer, movedTo } = trial;
  return {
    channel,
    result: 'delivered',
    method,
    http_status: httpStatus,
    answer,
    ...(movedTo !== undefined && { moved_to: movedTo }),
  };
}

/** Says which keys make the wanted channels. */
export function notConfigured(paths: Paths, asked: ChannelName | 'both' | undefined): Failure {
  const what = asked === undefined || asked === 'both' ? 'no channel' : asked;
  return new Failure(
    'not_configured',
    `${what} is ${asked === undefined || asked === 'both' ? '' : 'not '}active: run \`runner notify setup\`, or see section notify of ${paths.config}`,
  );
}
