/** Reads and verifies the events of servers. */
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { type CheckedBatch, FIRST_PREV, follows, receivedBatch } from '@runner/fleet/events/batch';
import { ServerKeys } from '@runner/fleet/events/keys';
import type { FleetServer } from '@runner/fleet/files/operator';

/** The broker, or the output of `runner agent ship`. */
export type EventSource = Pick<Broker, 'all'>;

/** The events of one server, read once from start to end. */
export class ServerEvents {
  readonly server: FleetServer;
  /** A sentence per message that is not signed, cannot be read, or breaks the chain. */
  readonly problems: string[] = [];
  batches = 0;
  /** How many times records were rotated away before they were sent. */
  gaps = 0;
  /** How many messages are missing before the first: too old, or the broker has dropped them. */
  gone = 0;
  private before: CheckedBatch | undefined;
  private keys: ServerKeys;
  /** Offset up to which each log file was read, so that repeated messages yield nothing twice. */
  private readonly read: Map<string, number>;
  private seq = 1;

  constructor(server: FleetServer, positions: Record<string, number> = {}) {
    this.server = server;
    this.keys = new ServerKeys(server);
    this.read = new Map(Object.entries(positions));
  }

  /** By log file: the offset up to which it was read. */
  get positions(): Record<string, number> {
    return Object.fromEntries(this.read);
  }

  /** Number of the newest batch. */
  get newest(): number {
    return this.before?.batch.n ?? 0;
  }

  /** Reads from the start again: a broker that was restarted may have lost messages, and numbers new ones from there. */
  rewind(): void {
    this.seq = 1;
    this.gone = 0;
    this.before = undefined;
    this.keys = new ServerKeys(this.server);
  }

  /** The lines that are new since the last call; `gap`: lines before them were rotated away before they were sent. */
  async *unread(broker: EventSource) {
    const { server } = this.server;
    for await (const stored of broker.all('EVENTS', subjects.events(server), this.seq)) {
      this.seq = stored.seq + 1;
      const { replaced } = this.keys;
      const received = receivedBatch(server, this.keys.next('events', stored.text));
      if ('problem' in received) {
        const why = received.isSigned ? `: ${received.problem}` : ` is not signed by ${server}`;
        this.problems.push(`message ${stored.seq}${why}`);
        continue;
      }
      const checked = received.value;
      if (this.keys.replaced > replaced) this.before = undefined;
      if (!follows(checked, this.before))
        this.problems.push(`message ${stored.seq} of ${server} does not follow the one before it`);
      const { n, prev, file, from, to, gap } = checked.batch;
      if (!this.before) this.gone += n - 1;
      // A repeated message does not move the chain back.
      if (n > (this.before?.batch.n ?? 0) || prev === FIRST_PREV) this.before = checked;
      this.batches += 1;
      const known = this.read.get(file) ?? 0;
      if (to <= known) continue;
      this.read.set(file, to);
      if (gap) this.gaps += 1;
      yield { server, bytes: checked.bytes.subarray(Math.max(0, known - from)), gap };
    }
  }
}
