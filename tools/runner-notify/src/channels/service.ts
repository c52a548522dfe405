/**
 * A chat service, as the commands that announce know it. One folder holds everything about a
 * service; what only some commands need stands in files of its own: words.ts, probe.ts, setup.ts.
 */
import type { ChannelName, NotifySettings } from '@runner/common/config/settings';
import type { Notice } from '../notice.ts';
import type { DraftValues } from '../setup/draft.ts';
import type { Channel, Message } from './channel.ts';
import type { Line } from './exchange.ts';
import type { Fields } from './fields.ts';
import type { Known } from './wording.ts';

/** The credentials of all channels. */
export type Credentials = Pick<NotifySettings, ChannelName>;

/** What a folder of a channel exports. */
export interface Service {
  readonly name: ChannelName;
  /** What messages are sent with, for people. */
  readonly method: string;
  /** In this markup a backslash is an escape inside code as well. */
  readonly codeEscapes: boolean;
  /** Legal values for its keys, so that the rest of the file can be checked before they are known. */
  readonly placeholders: DraftValues;
  /** A credential as it may be shown. */
  mask(secret: string): string;
  /** The credentials, and those parts of them that are secret by themselves; none when it is not set. */
  secretsOf(credentials: Credentials): string[];
  /** What makes this destination another one; secret. */
  identityOf(credentials: Credentials): string;
  /** That part of a message's body which names the destination; empty when it is not set. */
  addressOf(credentials: Credentials): Fields;
  /** What of the configuration `runner notify status` shows beside the secret. */
  shownOf(credentials: Credentials): Omit<Known, 'answer'>;
  /** The messages of a notice; `template` is the user's wording of the first. */
  messages(notice: Notice, template: string | undefined, warn: (text: string) => void): Message[];
  /** Undefined when its credentials are not set. */
  open(settings: NotifySettings, line: Omit<Line, 'method'>): Channel | undefined;
}
