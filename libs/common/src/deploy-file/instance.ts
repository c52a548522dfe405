/** An instance, as `.deploy.yml` describes it. */

/** The types of `traffic`: how the proxy finds the version that is live. */
export const TRAFFIC_TYPES = ['socket', 'ports', 'command'] as const;

/** How an instance changes versions: in two slots, of which the link `live` names one. Times in ms. */
export interface Traffic {
  readonly type: (typeof TRAFFIC_TYPES)[number];
  /** The ports of slot a and slot b; only without sockets. */
  readonly ports: readonly [number, number] | undefined;
  /** The command that moves new requests to PORT; only for type `command`. */
  readonly run: string | undefined;
  /** Longest time that the version before may finish its requests. */
  readonly drain: number;
  /** false: one slot, stopped before it is started. */
  readonly overlap: boolean;
}

/** One place in which an app runs, with its environment. */
export interface Instance {
  readonly name: string;
  readonly domain: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: one version is stopped before the next one is started. */
  readonly traffic?: Traffic;
}
