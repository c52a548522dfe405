/** What a server says of itself when it is asked. */
import { jsonObject } from '@runner/common/text/json';

/** An app on a server. */
export interface AppOnServer {
  readonly app: string;
  readonly version: string | null;
  readonly commit: string | null;
  /** `paused`, `stopped`, or null. */
  readonly held: string | null;
}

/** The signed text, as JSON. */
export interface ServerState {
  /** Of the question; empty in a stored state. */
  readonly nonce: string;
  readonly at: string;
  /** Version of the agent. */
  readonly agent: string;
  readonly apps: readonly AppOnServer[];
  /** Batches of its audit log that are in the broker, and bytes of the log that are not yet. */
  readonly events: { readonly sent: number; readonly waiting: number };
  /** What a branch or `ref` means there, if that was asked. */
  readonly head: {
    readonly commit: string | null;
    readonly version: string | null;
    /** Why it cannot be deployed, and the code of that. */
    readonly problem: string | null;
    readonly code: string | null;
  } | null;
}

/** Undefined for any other text. */
export function stateOf(body: string): ServerState | undefined {
  const state = jsonObject(body) as Partial<ServerState> | undefined;
  return Array.isArray(state?.apps) && state.events ? (state as ServerState) : undefined;
}
