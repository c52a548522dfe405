/** A server's state, as it reports it in reply to a ping. */
import * as f from './fields.ts';

const appOnServerField = f.object({
  app: f.appField,
  version: f.nullable(f.versionField),
  commit: f.nullable(f.commitField),
  held: f.nullable(f.oneOf('paused', 'stopped')),
  /** By whom, and why. This and what follows, not every agent says. */
  held_by: f.optional(f.nullable(f.sentence)),
  held_reason: f.optional(f.nullable(f.sentence)),
  /** The word of `runner list`. */
  state: f.optional(f.codeField),
  /** How the watch of what is active ended, or that it goes on; null: it has none. */
  watch: f.optional(f.nullable(f.codeField)),
  /** The approval that it waits for, in words. */
  waits: f.optional(f.nullable(f.sentence)),
});
export type AppOnServer = f.ValueOf<typeof appOnServerField>;

/** Whether what is active runs and has not had a bad watch, as far as the agent says it. */
export const isGoodThere = ({ state, watch }: AppOnServer): boolean =>
  state !== 'down' && state !== 'broken' && watch !== 'bad';

/** The commit that the branch or `ref` resolves to on a server. */
const headField = f.object({
  commit: f.nullable(f.commitField),
  version: f.nullable(f.versionField),
  /** Why it cannot be deployed. */
  problem: f.nullable(f.sentence),
  /** The problem's error code. */
  code: f.nullable(f.codeField),
  /** What `runner fetch` there would do about it, if the ping asked. */
  decision: f.optional(f.object({ result: f.codeField, text: f.sentence })),
});
export type ServerHead = f.ValueOf<typeof headField>;

/** More apps than a server has. */
const APPS_MAX = 10_000;
/** Of a random number. */
const nonceField = f.text(64);

/** The signed JSON. */
export const stateField = f.object({
  /** From the ping; empty in a stored state. */
  nonce: nonceField,
  at: f.timeField,
  agent: f.matching(/^[\w.+-]{1,64}$/, 'a version of the agent'),
  apps: f.list(appOnServerField, APPS_MAX),
  /** Batches of its audit log stored in the broker, and bytes still to be sent. */
  events: f.object({ sent: f.whole(0), waiting: f.whole(0) }),
  /** Messages in its mailbox that were not orders, since the agent started; not every agent counts them. */
  junk: f.optional(f.whole(0)),
  /** If the ping asked. */
  head: f.nullable(headField),
});
export type ServerState = f.ValueOf<typeof stateField>;

/** What a ping asks, as JSON. It is not signed. */
export const questionField = f.object({
  /** To be repeated in the reply. */
  nonce: nonceField,
  /** Resolve the branch of this app, or `ref`. */
  app: f.optional(f.appField),
  ref: f.optional(f.matching(/^[^-\x00][^\x00]{0,199}$/, 'a branch, tag or commit')),
  /** Decide as `runner fetch` does. */
  fetch: f.optional(f.flag),
});
export type PingQuestion = f.ValueOf<typeof questionField>;

/** A step of an order that a server has started, as JSON. */
export const stepField = f.object({ order: f.orderIdField, step: f.text(200) });
