/** What the commands of an operation reached, and what they were refused. */
import type { NetworkHost, NetworkRefusal } from '@runner/common/audit/network';

export type RefusalReason = NetworkRefusal['why'];

/** Limits of what is noted: a command can ask for any number of names. */
const REACHED_MAX = 1_000;
const REFUSED_MAX = 500;
/** Refusals whose command is looked for, which takes milliseconds. */
const ASKED_MAX = 60;
/** Hosts of a record. */
const RECORDED = 50;

type Bytes = Pick<NetworkHost, 'up' | 'down'>;

function add(sum: Bytes, { up, down }: Bytes): void {
  sum.up += up;
  sum.down += down;
}

/** Notes of one operation. */
export class NetworkNotes {
  readonly #reached = new Map<string, NetworkHost>();
  readonly #open = new Set<{ readonly entry: NetworkHost; bytes(): Bytes }>();
  readonly #refused = new Map<string, NetworkRefusal>();
  /** The list that allows what was reached, of commands that were to learn it. */
  learned: readonly string[] | undefined;

  /** Notes a connection, whose bytes count also while it is open. Returns what is called at its end. */
  reached(host: string, port: number, bytes: () => Bytes): () => void {
    const key = `${host}:${port}`;
    const entry = this.#reached.get(key) ?? { host, port, connections: 0, up: 0, down: 0 };
    if (this.#reached.size < REACHED_MAX) this.#reached.set(key, entry);
    entry.connections += 1;
    const open = { entry, bytes };
    this.#open.add(open);
    return () => {
      this.#open.delete(open);
      add(entry, bytes());
    };
  }

  /** `by` is asked the first time only. */
  refuse(
    host: string,
    port: number | null,
    why: RefusalReason,
    by: () => string | undefined,
  ): void {
    const key = `${host}:${port}:${why}`;
    const known = this.#refused.get(key);
    if (known) known.count += 1;
    else if (this.#refused.size < REFUSED_MAX) {
      const asker = this.#refused.size < ASKED_MAX ? by() : undefined;
      const more = asker === undefined ? {} : { by: asker };
      this.#refused.set(key, { host, ...(port !== null && { port }), why, count: 1, ...more });
    }
  }

  /** The hosts that were reached, those with the most bytes first. */
  get hosts(): readonly NetworkHost[] {
    const now = new Map([...this.#reached.values()].map((entry) => [entry, { ...entry }]));
    for (const { entry, bytes } of this.#open) {
      const counted = now.get(entry);
      if (counted) add(counted, bytes());
    }
    return [...now.values()].sort((a, b) => b.up + b.down - a.up - a.down);
  }

  /** What was refused, in order. */
  get refusals(): readonly NetworkRefusal[] {
    return [...this.#refused.values()];
  }

  /** Gives what was refused, in order, from this call on. */
  mark(): () => readonly NetworkRefusal[] {
    const before = new Map(this.refusals.map((each) => [each, each.count]));
    return () => this.refusals.filter((each) => each.count > (before.get(each) ?? 0));
  }

  /** The fields of a record. */
  fields(): { network?: NetworkHost[]; network_refused?: NetworkRefusal[] } {
    const [hosts, refusals] = [this.hosts.slice(0, RECORDED), this.refusals.slice(0, RECORDED)];
    return {
      ...(hosts.length > 0 && { network: hosts }),
      ...(refusals.length > 0 && { network_refused: refusals }),
    };
  }
}
