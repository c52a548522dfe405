/** The contract of a channel: a service that announcements are delivered to. */

import type { ChannelName } from '@runner/common/config/settings';
import type { HttpAnswer } from '@runner/common/http/request';
import type { Notice } from '../notice.ts';

/** One deadline for a whole exchange, in milliseconds: a deploy waits no longer for its chats. */
export const EXCHANGE_TIMEOUT = 15_000;
/** What an exchange is given even where less time is left to wait: a slow service does answer by then. */
export const EXCHANGE_MIN = 5_000;
/** Largest answer that is read, in bytes: both services answer with some kilobytes. */
export const ANSWER_MAX = 65_536;

/** At most `count` messages in any `per` milliseconds. */
export interface Rate {
  readonly count: number;
  readonly per: number;
}

/** Why a message was refused although another form of it may be taken. */
export type Complaint = 'markup' | 'length';

/** One message, ready to be sent. */
export interface Message {
  /** The body that is sent as JSON, without what names the destination. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The form to send after a complaint; undefined when there is none left. */
  instead(complaint: Complaint): Message | undefined;
}

/** What went wrong with an exchange. Never holds an address or a secret. */
export interface Problem {
  readonly method: string;
  /** null when no answer came. */
  readonly http_status: number | null;
  /** The service's own code, or that of the network error. */
  readonly code: number | string;
  readonly description: string;
  readonly retryable: boolean;
  /** What to check; undefined when nothing better than the description is known. */
  readonly hint: string | undefined;
}

/** How an exchange ended; each class asks for something else. */
export type Outcome =
  /** `rest`: milliseconds that the service wants to be left alone. */
  | { readonly class: 'delivered'; readonly rest: number; readonly movedTo?: string }
  /** Not before `delay` milliseconds from now. */
  | { readonly class: 'wait'; readonly delay: number; readonly problem: Problem }
  /** Trouble that passes by itself: try again later. */
  | { readonly class: 'retry'; readonly problem: Problem }
  /** This message will never be taken, at least not in this form. */
  | { readonly class: 'rejected'; readonly complaint?: Complaint; readonly problem: Problem }
  /** No message to this destination will be taken before somebody mends it. */
  | { readonly class: 'gone'; readonly problem: Problem };

/** A service that is ready to send to one destination. */
export interface Channel {
  readonly name: ChannelName;
  readonly rates: readonly Rate[];
  /** The messages of a notice, in order. `warn` is told what is wrong with a user's template. */
  render(notice: Notice, warn: (text: string) => void): Message[];
  /**
   * Makes one exchange (two when the destination has moved) within `timeout` milliseconds,
   * EXCHANGE_TIMEOUT unless told. Never throws for what a service does.
   */
  deliver(message: Message, timeout?: number): Promise<Outcome>;
}

/** Parses an answer; undefined when it is not a JSON object, e.g. the page of a proxy. */
export function jsonObject(answer: HttpAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(answer.body);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Longest time that a service's wish is believed, in milliseconds: a day. */
const DELAY_MAX = 86_400_000;
/** For a service that says to wait but not how long. */
const DELAY_UNKNOWN = 1_000;

/** Milliseconds to wait: the first of the given seconds that is a number, else `Retry-After`. */
export function delayOf(answer: HttpAnswer, ...seconds: readonly unknown[]): number {
  const after = answer.headers['retry-after'];
  for (const value of [...seconds, after, answer.headers['x-ratelimit-reset-after']]) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && number >= 0)
      return Math.min(Math.ceil(number * 1000), DELAY_MAX);
  }
  return DELAY_UNKNOWN;
}
