/** A server's state, as it reports it in reply to a ping. */
import {
  appField,
  codeField,
  commitField,
  type FieldReader,
  flag,
  list,
  matching,
  nullable,
  object,
  oneOf,
  optional,
  orderIdField,
  sentence,
  text,
  timeField,
  versionField,
  whole,
} from './fields.ts';

export interface AppOnServer {
  readonly app: string;
  readonly version: string | null;
  readonly commit: string | null;
  readonly held: 'paused' | 'stopped' | null;
  /** By whom, and why; not every agent says it. */
  readonly held_by?: string | null | undefined;
  readonly held_reason?: string | null | undefined;
  /** The word of `runner list`. This and what follows, not every agent says. */
  readonly state?: string | undefined;
  /** How the watch of what is active ended, or that it goes on; null: it has none. */
  readonly watch?: string | null | undefined;
  /** The approval that it waits for, in words. */
  readonly waits?: string | null | undefined;
}

/** Whether what is active runs and has not had a bad watch, as far as the agent says it. */
export const isGoodThere = ({ state, watch }: AppOnServer): boolean =>
  state !== 'down' && state !== 'broken' && watch !== 'bad';

/** The signed JSON. */
export interface ServerState {
  /** From the ping; empty in a stored state. */
  readonly nonce: string;
  readonly at: string;
  /** Version of the agent. */
  readonly agent: string;
  readonly apps: readonly AppOnServer[];
  /** Batches of its audit log stored in the broker, and bytes still to be sent. */
  readonly events: { readonly sent: number; readonly waiting: number };
  /** Messages in its mailbox that were not orders, since the agent started; not every agent counts them. */
  readonly junk?: number | undefined;
  /** If the ping asked. */
  readonly head: ServerHead | null;
}

/** The commit that the branch or `ref` resolves to on a server. */
export interface ServerHead {
  readonly commit: string | null;
  readonly version: string | null;
  /** Why it cannot be deployed. */
  readonly problem: string | null;
  /** The problem's error code. */
  readonly code: string | null;
  /** What `runner fetch` there would do about it, if the ping asked. */
  readonly decision?: { readonly result: string; readonly text: string } | undefined;
}

/** More apps than a server has. */
const APPS_MAX = 10_000;
/** Of a random number. */
const nonceField = text(64);

export const stateField: FieldReader<ServerState> = object({
  nonce: nonceField,
  at: timeField,
  agent: matching(/^[\w.+-]{1,64}$/, 'a version of the agent'),
  apps: list(
    object<AppOnServer>({
      app: appField,
      version: nullable(versionField),
      commit: nullable(commitField),
      held: nullable(oneOf('paused', 'stopped')),
      held_by: optional(nullable(sentence)),
      held_reason: optional(nullable(sentence)),
      state: optional(codeField),
      watch: optional(nullable(codeField)),
      waits: optional(nullable(sentence)),
    }),
    APPS_MAX,
  ),
  events: object({ sent: whole(0), waiting: whole(0) }),
  junk: optional(whole(0)),
  head: nullable(
    object<ServerHead>({
      commit: nullable(commitField),
      version: nullable(versionField),
      problem: nullable(sentence),
      code: nullable(codeField),
      decision: optional(object({ result: codeField, text: sentence })),
    }),
  ),
});

/** What a ping asks, as JSON. It is not signed. */
export interface PingQuestion {
  /** To be repeated in the reply. */
  readonly nonce: string;
  /** Resolve the branch of this app, or `ref`. */
  readonly app?: string | undefined;
  readonly ref?: string | undefined;
  /** Decide as `runner fetch` does. */
  readonly fetch?: boolean | undefined;
}

export const questionField: FieldReader<PingQuestion> = object<PingQuestion>({
  nonce: nonceField,
  app: optional(appField),
  ref: optional(matching(/^[^-\x00][^\x00]{0,199}$/, 'a branch, tag or commit')),
  fetch: optional(flag),
});

/** A step of an order that a server has started, as JSON. */
export interface StartedStep {
  readonly order: string;
  readonly step: string;
}

export const stepField: FieldReader<StartedStep> = object({
  order: orderIdField,
  step: text(200),
});
