/** Brings the audit log to the broker, exactly once and in order: the checkpoint is the stream itself. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Broker, Stored } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { batchOf, type Checked, FIRST_PREV, packed } from '@runner/fleet/events/batch';
import { digestOf, publicKeyOf, seal } from '@runner/fleet/order/seal';
import type { ServerState } from '@runner/fleet/order/state';
import type { Agent } from '../orders/agent.ts';
import { LogReader } from './log-piece.ts';

/** Between two looks at the log, and after an error; in ms. */
const LOOK = 1_000;

export class Shipper {
  private readonly agent: Agent;
  private readonly reader: LogReader;
  /** The newest batch in the broker. */
  private last: { stored: Stored | undefined; checked: Checked | undefined } | undefined;

  constructor(agent: Agent) {
    this.agent = agent;
    this.reader = new LogReader(agent.paths);
  }

  /** How far the log is in the broker. */
  get progress(): ServerState['events'] {
    const batch = this.last?.checked?.batch;
    return { sent: batch?.n ?? 0, waiting: this.reader.waiting(batch) };
  }

  /** Asks the broker how far it is. */
  async find(broker: Broker): Promise<void> {
    const { signKey, config } = this.agent;
    const stored = await broker.last('EVENTS', subjects.events(config.server));
    const checked = stored && batchOf(stored.text, config.server, publicKeyOf(signKey));
    this.last = { stored, checked };
  }

  /** Does not end. After each reconnection the broker is asked again: it may have lost its tail. */
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

  /** Stores the next batch; true when everything is stored. */
  private async step(broker: Broker): Promise<boolean> {
    if (!this.last) await this.find(broker);
    const { last } = this;
    const next = this.batchAfter(last?.checked);
    if (next === undefined) return true;
    const { server } = this.agent.config;
    const seq = await broker.store(subjects.events(server), next.text, last?.stored?.seq ?? 0);
    // A reconnection may have come between.
    if (this.last !== last) return false;
    const stored = { seq: seq ?? 0, text: '', subject: '', at: this.agent.io.now() };
    // Stored before, without an answer: the broker is asked again.
    this.last = seq === undefined ? undefined : { stored, checked: next.checked };
    return false;
  }

  /** The lines of the log after a batch, sealed; undefined if there are none. */
  batchAfter(before: Checked | undefined): { text: string; checked: Checked } | undefined {
    const { config, signKey } = this.agent;
    const piece = this.reader.after(before?.batch);
    if (!piece) return undefined;
    const { bytes, file, from, gap } = piece;
    const { size, fields } = packed(bytes);
    const n = (before?.batch.n ?? 0) + 1;
    const prev = before?.digest ?? FIRST_PREV;
    const batch = { n, prev, file, from, to: from + size, gap };
    const body = JSON.stringify({ ...batch, ...fields });
    const text = JSON.stringify(seal('events', config.server, body, signKey));
    return { text, checked: { batch, digest: digestOf(body) } };
  }
}
