/** Brings the audit log to the broker, exactly once and in order: the checkpoint is the stream itself. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Broker, Stored } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { batchOf, type Checked, FIRST_PREV, packed } from '@runner/fleet/events/batch';
import { publicKeyOf, seal } from '@runner/fleet/order/seal';
import type { Agent } from '../orders/agent.ts';
import { pieceAfter } from './log-piece.ts';

/** Between two looks at the log, and after an error; in ms. */
const LOOK = 1_000;

/** Does not end. After each reconnection the broker is asked again: it may have lost its tail. */
export async function shipEvents(agent: Agent, broker: Broker): Promise<never> {
  let isFresh = false;
  let last: { stored: Stored | undefined; checked: Checked | undefined } | undefined;
  void broker.onReconnect(() => {
    isFresh = false;
  });
  const key = publicKeyOf(agent.signKey);
  const { server } = agent.config;
  const subject = subjects.events(server);
  for (;;) {
    try {
      if (!isFresh || !last) {
        isFresh = true;
        const stored = await broker.last('EVENTS', subject);
        last = { stored, checked: stored && batchOf(stored.text, server, key) };
      }
      const text = nextBatch(agent, last.checked);
      if (text === undefined) {
        await pause(LOOK);
        continue;
      }
      const seq = await broker.store(subject, text, last.stored?.seq ?? 0);
      // Stored before, without an answer.
      if (seq === undefined) isFresh = false;
      else {
        const stored = { seq, text, subject, at: agent.io.now() };
        last = { stored, checked: batchOf(text, server, key) };
      }
    } catch {
      isFresh = false;
      await pause(LOOK);
    }
  }
}

/** The next lines of the log, sealed; undefined if there are none. */
function nextBatch(
  { paths, config, signKey }: Agent,
  before: Checked | undefined,
): string | undefined {
  const piece = pieceAfter(paths, before?.batch);
  if (!piece) return undefined;
  const { bytes, file, from, to, gap } = piece;
  const chain = { n: (before?.batch.n ?? 0) + 1, prev: before?.digest ?? FIRST_PREV };
  const body = JSON.stringify({ ...chain, file, from, to, gap, ...packed(bytes) });
  return JSON.stringify(seal('events', config.server, body, signKey));
}
