/** Test notifications: which channels get one, and what came of it. */

import { editConfig } from '@runner/common/config/edit';
import { type Config, readConfig } from '@runner/common/config/file';
import {
  type ChannelName,
  type NotifySettings,
  notifySettingsOf,
} from '@runner/common/config/settings';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Problem } from './channels/channel.ts';
import type { Trial } from './channels/probe.ts';
import { CHANNEL_NAMES, WORDS } from './channels/words.ts';
import { whyInactive } from './inactive.ts';
import { probeOf } from './probing.ts';
import { activeChannels } from './selection.ts';
import type { Locking } from './spool/spool.ts';
import { keepTrial } from './trial-state.ts';

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
  { io, paths, title }: Locking & { readonly io: Io },
  asked: ChannelName | 'both' | undefined,
): Promise<TrialResult[]> {
  const config = readConfig(paths);
  const settings = notifySettingsOf(config, io.env);
  const active = activeChannels(settings);
  const named = CHANNEL_NAMES.filter((name) => asked === 'both' || asked === name);
  const wanted = asked === undefined ? active : named;
  if (!wanted.some((name) => active.includes(name))) throw notConfigured(config, settings, asked);
  return Promise.all(
    wanted.map(async (channel): Promise<TrialResult> => {
      const probe = active.includes(channel) ? probeOf(channel, settings, io.env) : undefined;
      if (!probe) return { channel, result: 'not_active' };
      const trial = await probe.sendTest();
      const { movingKey } = WORDS[channel];
      if (trial.delivered && trial.movedTo !== undefined && movingKey !== undefined) {
        const change = { path: ['notify', movingKey], value: trial.movedTo };
        editConfig(paths, io, title, [change]);
      }
      const moved = notifySettingsOf(readConfig(paths), io.env);
      keepTrial({ io, paths, title }, channel, moved, trial.delivered ? null : trial.problem);
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

/** Says why none of the wanted channels is active. */
function notConfigured(
  config: Config,
  settings: NotifySettings,
  asked: ChannelName | 'both' | undefined,
): Failure {
  const wanted = asked === undefined || asked === 'both' ? CHANNEL_NAMES : [asked];
  return new Failure('not_configured', whyInactive(config, settings, wanted));
}

export { configExposure } from '@runner/common/guards/exposure';
