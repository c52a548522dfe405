/**
 * The contract of a channel. A chat service is one folder of channels/ that exports a `ChatService`;
 * everything else in this tool knows a service through this file alone.
 */
import type { Value } from '@runner/common/cli/option';
import type { ChannelName } from '@runner/common/config/channels';
import type { NotifySettings } from '@runner/common/config/settings';
import type { Env } from '@runner/common/foundation/io';
import type { Notice } from '../message/notice.ts';
import type { MessageStep } from '../message/steps.ts';
import type { Fields } from './fields.ts';

/** At most `count` messages in any `per` milliseconds. */
export interface Rate {
  readonly count: number;
  readonly per: number;
}

/** Why a message was refused although another form of it may be accepted. */
export type Complaint = 'markup' | 'length';

/** One message, ready to be sent. */
export interface Message {
  /** Which posted message it edits or answers; undefined: it is a new message. */
  readonly step?: MessageStep | undefined;
  /** The JSON body, without the fields that name the destination. */
  readonly payload: Fields;
  /** Of several recipients, those that have not got it yet; undefined: all. */
  readonly only?: readonly string[] | undefined;
  /** The form to send after a complaint; undefined when there is none left. */
  instead(complaint: Complaint): Message | undefined;
}

/** What went wrong with a request. Never holds an address or a secret. */
export interface ServiceProblem {
  readonly method: string;
  /** null when no answer came. */
  readonly http_status: number | null;
  /** The service's own code, or that of the network error. */
  readonly code: number | string;
  readonly description: string;
  readonly retryable: boolean;
  /** What to check; undefined when there is no better advice than the description. */
  readonly hint?: string | undefined;
}

/** How sending a message ended; each class calls for a different reaction. */
export type SendOutcome =
  /** `rest`: pause that the service asks for, in ms; `movedTo`: the destination's new id. */
  | {
      readonly class: 'delivered';
      readonly rest: number;
      readonly movedTo?: string;
      readonly accepted?: { readonly httpStatus: number | null; readonly body: Fields };
    }
  /** Not before `delay` milliseconds from now. */
  | { readonly class: 'wait'; readonly delay: number; readonly problem: ServiceProblem }
  /** A temporary problem: try again later; `left`: the recipients that were refused, others have it. */
  | {
      readonly class: 'retry';
      readonly left?: readonly string[] | undefined;
      readonly problem: ServiceProblem;
    }
  /** The service never accepts this message, at least not in this form, or not at this id. */
  | {
      readonly class: 'rejected';
      readonly complaint?: Complaint | undefined;
      readonly movedTo?: string | undefined;
      /** The message to edit no longer exists. */
      readonly missing?: boolean;
      readonly left?: readonly string[] | undefined;
      readonly problem: ServiceProblem;
    }
  /** The destination accepts no message until its configuration is fixed. */
  | { readonly class: 'gone'; readonly problem: ServiceProblem };

/** What a service reports about a destination. */
export interface Inspection {
  /** Messages can be expected to arrive; null when only a message would show. */
  readonly healthy: boolean | null;
  /** For `runner notify status`, by name. */
  readonly facts: Fields;
  /** What to change, as sentences. */
  readonly advice: readonly string[];
  /** Why the service did not answer. */
  readonly problem?: ServiceProblem;
}

/** A service, connected to one destination. No method throws for what a service does. */
export interface Channel {
  readonly rates: readonly Rate[];
  /**
   * Makes one request (two when the destination has moved) within `timeout` milliseconds, by
   * default EXCHANGE_TIMEOUT.
   */
  send(message: Message, timeout?: number, repliesTo?: string): Promise<SendOutcome>;
  /** Replaces a posted message; undefined where the service cannot. */
  edit?(id: string, message: Message, timeout?: number): Promise<SendOutcome>;
  /** The id of a posted message, from the answer. */
  idOf?(body: Fields): string;
  /** Changes nothing and sends no message. */
  inspect(): Promise<Inspection>;
  /** Sends one test notification, once. */
  sendTest(): Promise<SendOutcome>;
}

export type Credentials = Partial<Pick<NotifySettings, ChannelName>>;

/** What every request needs. */
export interface RequestLine {
  readonly env: Env;
  redact(text: string): string;
  /** Aborts every request on this line. */
  readonly signal?: AbortSignal | undefined;
}

/** An option of `runner notify setup`: an answer that is given in advance. */
export interface SetupAnswer extends Value {
  /** The key of a channel's own section that it sets. */
  readonly key?: string;
  /** What it is, in words that begin with `the`. */
  readonly what: string;
  /** What it looks like, appended to `what` for people. */
  readonly form?: string;
  /** The value is a file that holds a secret, which may also be in this variable of the environment. */
  readonly variable?: string;
  readonly pattern?: RegExp;
  /** What matches `pattern`, in words. */
  readonly wanted?: string;
  /** The channel can be set up without it. */
  readonly optional?: true;
}

/** By the names of the options. */
export type Answers = Readonly<Record<string, SetupAnswer>>;

/** Keys of section `notify`, `slack.webhook` of a section in it; undefined: the key is not there. */
export type ConfigValues = Readonly<
  Record<string, string | number | readonly string[] | undefined>
>;

/** A line of `runner notify status`. */
export type StatusRow = readonly [label: string, text: string];

/** What the folder of a channel exports. */
export interface ChatService {
  /** For people. */
  readonly title: string;
  /**
   * The keys of section `notify` that make the channel, `slack.webhook` of a section in it; all are
   * needed, the first is secret.
   */
  readonly credentials: readonly [string, ...string[]];
  /** The key of a destination that may move; undefined when it cannot. */
  readonly movingKey: string | undefined;
  /** What the secret is, for people. */
  readonly secret: string;
  /** Shown for a destination that answers but accepts no messages. */
  readonly unhealthy: string;
  /** What messages are sent with, for people. */
  readonly method: string;
  /** Posted messages can be edited: `connect` returns a channel with `edit`. */
  readonly edits?: true;
  /** In this markup a backslash is an escape inside code as well. */
  readonly codeEscapes: boolean;
  /** Valid values for its keys: with them the rest of the file is checked before setup asks. */
  readonly placeholders: ConfigValues;
  /** A credential as it may be shown. */
  mask(secret: string): string;
  /** The credentials, and their parts that are secret on their own; empty when not configured. */
  secretsOf(credentials: Credentials): string[];
  /** Distinguishes this destination from others; secret. */
  identityOf(credentials: Credentials): string;
  /** The fields of a message's body that name the destination. */
  addressOf(credentials: Credentials): Fields;
  /** Configuration that `runner notify status` shows beside the secret. */
  shownOf(credentials: Credentials): Fields;
  /** The destination in rows, below that of the secret; `facts` of the inspection are null without one. */
  rows(shown: Fields, facts: Fields | null): StatusRow[];
  /** What is shown of the answer to a test message, without secrets. */
  reportOf(body: Fields): Fields;
  /** Where it arrived, from this report. */
  placeOf(report: Fields): string;
  /** The messages of a notice, in order; `template` is the user's wording of the first. */
  messages(notice: Notice, template: string | undefined, warn: (text: string) => void): Message[];
  /** Undefined when its credentials are not set. */
  connect(credentials: Credentials, line: RequestLine): Channel | undefined;
}
