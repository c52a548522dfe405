/** Sends the audit log to the broker, exactly once and in order. The newest batch in the stream is the checkpoint. */
import { setTimeout as pause } from 'node:timers/promises';
import { LogReader } from '@runner/common/audit/log-piece';
import type { Broker, Stored } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import {
  batchOf,
  type CheckedBatch,
  FIRST_PREV,
  packed,
  unpacked,
} from '@runner/fleet/events/batch';
import { digestOf, signedText } from '@runner/fleet/order/seal';
import type { ServerState } from '@runner/fleet/order/state';
import type { Agent } from '../orders/agent.ts';

/** Between two reads of the log, and after an error, in ms. */
const LOOK = 1_000;

export class Shipper {
  private readonly agent: Agent;
  private readonly reader: LogReader;
  /** The newest batch in the broker. */
  private last: { stored: Stored | undefined; checked: CheckedBatch | undefined } | undefined;

  constructor(agent: Agent) {
    this.agent = agent;
    this.reader = new LogReader(agent.paths);
  }

  get progress(): ServerState['events'] {
    const batch = this.last?.checked?.batch;
    return { sent: batch?.n ?? 0, waiting: this.reader.waiting(batch) };
  }

  /** Reads the checkpoint from the broker. */
  async loadCheckpoint(broker: Broker): Promise<void> {
    const { key, config } = this.agent;
    const stored = await broker.last('EVENTS', subjects.events(config.server));
    const own = { server: config.server, key };
    const checked = stored && batchOf(signedText('events', stored.text, own));
    const bytes = checked && unpacked(checked.batch);
    const back = bytes && this.reader.putBack(checked.batch, bytes, checked.batch.n);
    this.last = {
      stored,
      checked: back ? { ...checked, batch: { ...checked.batch, ...back } } : checked,
    };
  }

  /** Never returns. Reads the checkpoint again after each reconnection: the broker may have lost its newest messages. */
  async run(broker: Broker): Promise<never> {
    void broker.onReconnect(() => {
      this.last = undefined;
    });
    for (;;) {
      const isIdle = await this.step(broker).catch(() => {
        this.last = undefined;
        return true;
      });
      if (isIdle) await pause(LOOK);
    }
  }

  /** Stores the next batch; true if there is none. */
  private async step(broker: Broker): Promise<boolean> {
    if (!this.last) await this.loadCheckpoint(broker);
    const { last } = this;
    const next = this.batchAfter(last?.checked);
    if (next === undefined) return true;
    const { server } = this.agent.config;
    const seq = await broker.store(subjects.events(server), next.text, last?.stored?.seq ?? 0);
    // There was a reconnection meanwhile.
    if (this.last !== last) return false;
    const stored = { seq: seq ?? 0, text: '', subject: '', at: this.agent.io.now() };
    // It was stored before, but the reply was lost: read the checkpoint again.
    this.last = seq === undefined ? undefined : { stored, checked: next.checked };
    return false;
  }

  /** The lines of the log after a batch, sealed; undefined if there are none. */
  batchAfter(
    before: CheckedBatch | undefined,
  ): { text: string; checked: CheckedBatch } | undefined {
    const piece = this.reader.after(before?.batch);
    if (!piece) return undefined;
    const { bytes, file, from, gap } = piece;
    const { size, fields } = packed(bytes);
    const n = (before?.batch.n ?? 0) + 1;
    const prev = before?.digest ?? FIRST_PREV;
    const to = from + size;
    const isLeftOut = fields.lines === '';
    const { restored } = before?.batch ?? {};
    const place = { file, from: isLeftOut ? to : from, to, restored };
    const batch = { n, prev, ...place, gap: gap || isLeftOut };
    const body = JSON.stringify({ ...batch, ...fields });
    const text = JSON.stringify(this.agent.seal('events', body));
    return { text, checked: { batch, digest: digestOf(body) } };
  }
}
