/** Waiting for results, with a broker that says a lot. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Broker } from '../../libs/fleet/src/broker/broker.ts';
import { deliver, deliveryOf } from '../../tools/runner-fleet/src/rollout/delivery.ts';
import type { ServerLine } from '../../tools/runner-fleet/src/rollout/line.ts';

const SERVER = { server: 'web1', groups: [], nkey: 'U', key: `ed25519:${'A'.repeat(43)}` };

test('a long wait accumulates nothing and ends on a signal', async () => {
  const now = new Date().toISOString();
  const what = { id: 'r-00000001', verb: 'hold', app: 'shop', ref: '', servers: ['web1'] };
  const body = JSON.stringify({ ...what, issued: now, deadline: now, max_parallel: 1, reason: '' });
  let messages = 0;
  const interrupted = new AbortController();
  const broker = {
    store: async () => 1,
    async *all() {},
    subscribe(_subject: string, call: (text: string) => void) {
      const timer = setInterval(() => {
        call('junk');
        messages += 1;
        if (messages === 40) interrupted.abort();
      }, 1);
      return () => clearInterval(timer);
    },
  } as unknown as Broker;
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);
  process.on('warning', warned);
  const lines: ServerLine[] = [];
  const answered = async (line: ServerLine) => void lines.push(line);
  const waiting = { wait: 60_000, signal: interrupted.signal, answered };
  const delivery = deliveryOf({ by: 'alice', sig: '', body }, [SERVER]);
  await deliver({ io: { elapsed: () => performance.now() } } as never, broker, delivery, waiting);
  process.off('warning', warned);
  assert.equal(warnings, []);
  assert.equal(
    lines.map(({ status }) => status),
    ['no_answer'],
  );
});

/** A delivery of an order to SERVER with a broker that stores it so; the lines, and what was thrown. */
async function delivered(store: () => Promise<number>, signal: AbortSignal) {
  const now = new Date().toISOString();
  const what = { id: 'r-00000001', verb: 'hold', app: 'shop', ref: '', servers: ['web1'] };
  const body = JSON.stringify({ ...what, issued: now, deadline: now, max_parallel: 1, reason: '' });
  const broker = { store, subscribe: () => () => {}, async *all() {} } as unknown as Broker;
  const lines: ServerLine[] = [];
  const error = await deliver(
    { io: { elapsed: () => performance.now() } } as never,
    broker,
    deliveryOf({ by: 'alice', sig: '', body }, [SERVER]),
    { wait: 60_000, signal, answered: async (line) => void lines.push(line) },
  ).catch((thrown: Error) => thrown);
  return [lines.map(({ status }) => status), error?.message];
}

test('a signal ends the wait for a broker that does not answer; the server may have the order', async () => {
  const interrupted = new AbortController();
  setTimeout(() => interrupted.abort(), 10);
  const forever = () => new Promise<number>(() => {});
  assert.equal(await delivered(forever, interrupted.signal), [['no_answer'], undefined]);
});

test('an order that the broker did not confirm is not called not ordered', async () => {
  const fail = async () => {
    throw new Error('no space');
  };
  const { signal } = new AbortController();
  assert.equal(await delivered(fail, signal), [['no_answer'], 'no space']);
});

test.run();
