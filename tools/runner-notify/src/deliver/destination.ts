/**
 * The shared state of a destination: recent messages in its rate windows, requested pauses, and whether
 * it is gone.
 */

import type { DestinationName } from '@runner/common/config/channels';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import type { MessageStep } from '../message/steps.ts';
import type { Rate, SendOutcome, ServiceProblem } from '../service/contract.ts';
import {
  bounded,
  messagesAfter,
  NO_TROUBLE,
  type Pause,
  readState,
  type State,
  writeState,
} from '../spool/state.ts';
import type { Clock } from './clock.ts';
import { pauseAfter } from './retry.ts';

/** After this many consecutive failures the whole destination is paused. */
const TROUBLE_MIN = 3;
/** Shortest pause after a 429, in milliseconds. */
const ASKED_MIN = 100;
/** Longest pause after a rate window is used up, in milliseconds; Discord's windows are shorter. */
const REST_MAX = 5_000;

/** How long no message can be sent, and why. */
export interface Wait {
  /** Milliseconds; 0 when a message may be sent now. */
  readonly wait: number;
  /** Our rates, the service's request, temporary problems; `backoff`: the message itself failed before. */
  readonly why: 'rate' | 'asked' | 'trouble' | 'backoff';
  /** The last problem of the destination, if that is the reason. */
  readonly problem: ServiceProblem | undefined;
}

/** Different credentials are a different destination. */
export interface DestinationOptions {
  readonly paths: Paths;
  readonly channel: DestinationName;
  /** Digest of the credentials. */
  readonly digest: string;
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  note(text: string): void;
}

/** The result of a request; `id` of the posted or edited message, if the service returns one. */
export interface Posted {
  readonly outcome: SendOutcome;
  readonly id?: string | undefined;
}

/** Decides when the next message may be sent, based on earlier answers. */
export class Destination {
  readonly #options: DestinationOptions;
  #state: State;
  #noted = false;

  /** An unreadable state, or one of other credentials, counts as empty. */
  constructor(options: DestinationOptions) {
    this.#options = options;
    this.#state = readState(options.paths, options.channel, () => options.digest);
  }

  wait(ignoreTrouble = false): Wait {
    this.#fixTimes();
    const { until, trouble: troubles, last_error } = this.#state;
    const asked = Math.max(0, (until ?? 0) - this.#options.clock.now());
    const trouble = ignoreTrouble ? 0 : this.#left(troubles.pause);
    const why = asked > 0 ? 'asked' : trouble > 0 ? 'trouble' : 'rate';
    const { at: _, ...problem } = last_error ?? {};
    return {
      wait: Math.max(asked, trouble, this.#rateLeft()),
      why,
      problem: why !== 'rate' && last_error ? (problem as ServiceProblem) : undefined,
    };
  }

  /** Why no more messages are sent; undefined: they are. */
  stopped(): ServiceProblem | undefined {
    return this.#state.stopped?.problem;
  }

  /** Call right before a request. */
  sending(): void {
    const { rates, clock } = this.#options;
    const at = clock.now();
    const widest = Math.max(...rates.map(({ per }) => per));
    const longest = Math.max(...rates.map(({ count }) => count));
    const recent = this.#state.sent.filter((time) => at - time < widest);
    this.#change({ sent: [...recent, at].slice(-longest) });
  }

  /** Whether this request was answered, but the process was killed before it saved the entry. */
  isDone(request: string): boolean {
    return this.#state.done.includes(request);
  }

  /** The id of the message for the first known key. */
  messageId(...keys: readonly (string | undefined)[]): string | undefined {
    const [first, ...others] = keys;
    if (keys.length === 0) return undefined;
    const { messages } = this.#state;
    const found = first && messages.findLast((each) => each.keys.includes(first));
    return found ? found.id : this.messageId(...others);
  }

  /** Call right after the request. The result is saved in the same write as the rest of the state. */
  answered({ outcome, id }: Posted, request: string, step: MessageStep | undefined): void {
    const at = this.#options.clock.now();
    // The service counted it before it answered: using the later time is safe.
    const sent = [...this.#state.sent.slice(0, -1), at];
    const iso = new Date(at).toISOString();
    if (outcome.class === 'delivered') {
      const rest = Math.min(outcome.rest, REST_MAX);
      this.#change({
        sent,
        ...bounded([...this.#state.done, request], messagesAfter(this.#state.messages, step, id)),
        until: null,
        asked_at: null,
        rest: rest > 0 ? { from: at, until: at + rest } : null,
        trouble: NO_TROUBLE,
        stopped: null,
        last_success: iso,
      });
      return;
    }
    const { problem } = outcome;
    const failed = { sent, last_error: { at: iso, ...problem } };
    if (outcome.class === 'wait') {
      const until = at + Math.max(outcome.delay, ASKED_MIN);
      this.#change({ ...failed, until, asked_at: at });
    } else if (outcome.class === 'gone') {
      this.#change({ ...failed, stopped: { at: iso, problem } });
    } else if (outcome.class === 'retry' && outcome.left === undefined) {
      const count = this.#state.trouble.count + 1;
      const failures = count - TROUBLE_MIN + 1;
      const long = failures > 0 ? pauseAfter(failures, this.#options.clock.random()) : 0;
      const trouble = { count, pause: long > 0 ? { from: at, until: at + long } : null };
      this.#change({ ...failed, trouble });
    } else {
      this.#change({ ...failed, trouble: NO_TROUBLE });
    }
  }

  /** If the state cannot be written, the rates apply in this process only; noted once. */
  #change(next: Partial<State>): void {
    const { paths, channel, digest, note } = this.#options;
    this.#state = { ...this.#state, ...next };
    const failure = failureIn(() => writeState(paths, channel, digest, this.#state));
    if (failure && !this.#noted)
      note(`${channel}: ${failure.message}: other processes cannot see its rate limits`);
    this.#noted ||= failure !== undefined;
  }

  /** After the clock was set back, pauses start again but do not get longer. */
  #fixTimes(): void {
    const at = this.#options.clock.now();
    const moved = (pause: Pause | null) =>
      pause && pause.from > at ? { from: at, until: at + pause.until - pause.from } : pause;
    const { until, asked_at, sent, rest, trouble } = this.#state;
    const asked = moved(until === null ? null : { from: asked_at ?? at, until });
    if ([asked_at, rest?.from, trouble.pause?.from, ...sent].every((time) => (time ?? 0) <= at))
      return;
    this.#change({
      sent: sent.map((time) => Math.min(time, at)),
      until: asked?.until ?? null,
      asked_at: asked?.from ?? null,
      rest: moved(rest),
      trouble: { ...trouble, pause: moved(trouble.pause) },
    });
  }

  #left(pause: Pause | null): number {
    return pause ? Math.max(0, pause.until - this.#options.clock.now()) : 0;
  }

  #rateLeft(): number {
    const { rates, clock } = this.#options;
    const waits = rates.map(({ count, per }) => {
      const oldest = this.#state.sent.at(-count);
      return oldest === undefined ? 0 : oldest + per - clock.now();
    });
    return Math.max(0, this.#left(this.#state.rest), ...waits);
  }
}
