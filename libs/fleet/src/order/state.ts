/** A server's state, as it reports it in reply to a ping. */
import { jsonObject } from '@runner/common/text/json';

export interface AppOnServer {
  readonly app: string;
  readonly version: string | null;
  readonly commit: string | null;
  /** `paused`, `stopped`, or null. */
  readonly held: string | null;
}

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
  /** If the ping asked. */
  readonly head: Head | null;
}

/** The commit that the branch or `ref` resolves to on a server. */
export interface Head {
  readonly commit: string | null;
  readonly version: string | null;
  /** Why it cannot be deployed. */
  readonly problem: string | null;
  /** The problem's error code. */
  readonly code: string | null;
  /** What `runner fetch` there would do about it, if the ping asked. */
  readonly decision?: { readonly result: string; readonly text: string } | undefined;
}

/** Undefined unless the text is a state. */
export function stateOf(body: string): ServerState | undefined {
  const state = jsonObject(body) as Partial<ServerState> | undefined;
  return Array.isArray(state?.apps) && state.events ? (state as ServerState) : undefined;
}
