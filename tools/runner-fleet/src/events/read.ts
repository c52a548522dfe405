/** Reads the events of servers from the broker, and checks them. */
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { batchOf, type Checked, FIRST_PREV, follows, unpacked } from '@runner/fleet/events/batch';
import type { FleetServer } from '@runner/fleet/files/operator';

/** Where messages are read from: the broker, or what `runner agent ship` printed. */
export type EventSource = Pick<Broker, 'next'>;

/** The lines of one message of a server. */
export interface Lines {
  readonly server: string;
  readonly bytes: Buffer;
  /** Lines before these were rotated away on the server before they were sent. */
  readonly gap: boolean;
}

/** How far a server was read. */
export class ServerEvents {
  readonly server: FleetServer;
  /** Messages that are not the server's, or do not follow; each in words. */
  readonly problems: string[] = [];
  batches = 0;
  private before: Checked | undefined;
  /** How far each file of the log was read: nothing is given twice, whatever the broker repeats. */
  private readonly read = new Map<string, number>();
  private seq = 1;

  constructor(server: FleetServer) {
    this.server = server;
  }

  /** Number of the newest batch. */
  get newest(): number {
    return this.before?.batch.n ?? 0;
  }

  /** The next lines; undefined at the end. Goes on where it ended. */
  async next(broker: EventSource): Promise<Lines | undefined> {
    const { server, key } = this.server;
    for (;;) {
      const stored = await broker.next('EVENTS', subjects.events(server), this.seq);
      if (!stored) return undefined;
      this.seq = stored.seq + 1;
      const checked = batchOf(stored.text, server, key);
      if (!checked) {
        this.problems.push(`message ${stored.seq} is not signed by ${server}`);
        continue;
      }
      if (!follows(checked, this.before))
        this.problems.push(`message ${stored.seq} of ${server} does not follow the one before it`);
      const { n, prev, file, from, to, gap } = checked.batch;
      // Not what is repeated: the next one follows the newest.
      if (n > (this.before?.batch.n ?? 0) || prev === FIRST_PREV) this.before = checked;
      this.batches += 1;
      const known = this.read.get(file) ?? 0;
      if (to <= known) continue;
      this.read.set(file, to);
      return { server, bytes: unpacked(checked.batch).subarray(Math.max(0, known - from)), gap };
    }
  }
}
