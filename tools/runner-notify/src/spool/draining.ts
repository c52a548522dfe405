/** Delivers what is due in the spool, whoever queued it; for `runner notify flush`. */

import type { ChannelName } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import type { Ending, Patience } from '../courier.ts';
import type { Opened } from '../opening.ts';
import type { Entry } from './entry.ts';
import { lockChannel, type Spool } from './spool.ts';
import type { Next } from './turns.ts';

/** Longest pause in the middle of a run, in milliseconds: the windows of the services' rates, and a little. */
const PAUSE_MAX = 65_000;

/** Who drains, and which channels. */
export interface DrainingOptions {
  readonly io: Io;
  readonly paths: Paths;
  readonly title: string;
  readonly opened: Opened;
  readonly spool: Spool;
  readonly name: ChannelName;
  /** Also what waits after trouble that passes, once each. */
  readonly now: boolean;
}

/** Why a run ended before the queue was empty; undefined when it is empty. */
export type Left =
  | { readonly why: 'busy' }
  | { readonly why: Next['why']; readonly wait: number; readonly problem: Next['problem'] };

/** Delivers to one channel until nothing more is due. Another process that does so is left alone. */
export async function drain(
  { io, paths, title, opened, spool, name, now }: DrainingOptions,
  ended: (ending: Ending) => void,
): Promise<Left | undefined> {
  // A run may take half an hour. Its garbage is short-lived: without this the space for it grows
  // until a thousand messages take a quarter more memory than 100 MB.
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1');
  const lock = lockChannel({ io, paths, title }, name);
  if (!lock) return { why: 'busy' };
  let left: Left | undefined;
  let delivered = 0;
  const patience: Patience = {
    eager: now,
    goOn(next) {
      left = undefined;
      if (!next) return false;
      const own = next.why === 'rate';
      // A 429 in the middle of a run is waited for; one that was there before it is not.
      const interruption = next.why === 'asked' && delivered > 0;
      if (next.wait <= 0 || ((own || interruption) && next.wait <= PAUSE_MAX)) return true;
      left = { why: next.why, wait: next.wait, problem: next.problem };
      return false;
    },
  };
  try {
    spool.tidy(name, io.now());
    const courier = opened.courier(name, spool, new Map());
    await courier.bring(patience, (ending) => {
      if (ending.movedTo) opened.saveMove(name, ending.movedTo);
      if (ending.result === 'delivered') delivered += 1;
      ended(ending);
    });
  } finally {
    lock.release();
  }
  return left;
}

/** A day, in milliseconds: what waits for a channel that is no longer active is given up then. */
const AGE_MAX = 86_400_000;

/** Puts aside what has waited for a day for a channel that is not active; returns how many still wait. */
export function giveUpInactive(spool: Spool, name: ChannelName, now: number): number {
  let waiting = 0;
  for (const each of spool.names(name)) {
    const entry = spool.read(each);
    if (entry === undefined) continue;
    if (entry !== 'damaged' && now - Date.parse(entry.queued_at) <= AGE_MAX) waiting += 1;
    else spool.move(each, entry === 'damaged' ? undefined : inactive(entry), 'dead');
  }
  return waiting;
}

function inactive(entry: Entry): Entry {
  return {
    ...entry,
    problem: {
      method: 'spool',
      http_status: null,
      code: 'channel_not_active',
      description: 'the channel is not active',
      retryable: false,
      hint: 'check section notify of config.yml, then `runner notify queue retry`',
    },
  };
}
