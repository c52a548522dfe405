/** How a channel is told to people. */
import type { Fields } from './fields.ts';

/** A line of `runner notify status`. */
export type Row = readonly [label: string, text: string];

/** What `runner notify status` knows of a destination. */
export interface Known {
  readonly chat_id?: string;
  readonly thread_id?: number;
  /** What the service told; null when it told nothing. */
  readonly answer: Fields | null;
}

/** What people read about a channel. */
export interface Words {
  /** As people write it. */
  readonly title: string;
  /** The keys of config.yml that make the channel; all are needed, the first is secret. */
  readonly credentials: readonly [string, ...string[]];
  /** The key that names the destination where it may move; undefined when it cannot. */
  readonly movingKey: string | undefined;
  /** What the secret is. */
  readonly secret: string;
  /** Said of a destination that answers and takes no messages. */
  readonly unhealthy: string;
  /** The destination in rows, below that of the secret. */
  rows(known: Known): Row[];
  /** Where a test message has arrived. */
  placeOf(answer: Fields): string;
}
