import { pathsOf } from '@runner/common/foundation/paths';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Clock } from '../src/deliver/clock.ts';
import { Destination } from '../src/deliver/destination.ts';
import { type Caller, deliverQueue } from '../src/deliver/loop.ts';
import { Queue } from '../src/deliver/queue.ts';
import type { EntryResult } from '../src/deliver/result.ts';
import type {
  Channel,
  Complaint,
  Message,
  SendOutcome,
  ServiceProblem,
} from '../src/service/contract.ts';
import { newEntry, type QueueEntry } from '../src/spool/entry.ts';
import { type EntryName, entryName } from '../src/spool/names.ts';
import { Spool } from '../src/spool/spool.ts';

const problem: ServiceProblem = {
  method: 'test',
  http_status: 500,
  code: 500,
  description: 'trouble',
  retryable: true,
  hint: undefined,
};
const delivered: SendOutcome = { class: 'delivered', rest: 0 };
const retry: SendOutcome = { class: 'retry', problem };
const dropped: SendOutcome = {
  class: 'retry',
  problem: { ...problem, http_status: null, code: 'ECONNRESET' },
};
const rejected = (complaint?: Complaint): SendOutcome => ({
  class: 'rejected',
  problem,
  ...(complaint && { complaint }),
});
const wait = (delay: number): SendOutcome => ({ class: 'wait', delay, problem });

function message(text: string, other?: Partial<Record<Complaint, Message>>): Message {
  return { payload: { text }, instead: (complaint) => other?.[complaint] };
}

/** A spool, a channel that gives these answers and then delivers, and a clock that sleeping advances. */
function world(
  outcomes: readonly SendOutcome[] = [],
  rates: Channel['rates'] = [{ count: 100, per: 1000 }],
) {
  const paths = pathsOf(temporaryFolder('deliver'));
  const spool = new Spool(paths);
  const waiting = [...outcomes];
  const seen: { text: unknown; at: number }[] = [];
  const notes: string[] = [];
  const state = { time: 1_800_000_000_000, digest: 'one', instead: {} as Record<string, Message> };
  const clock: Clock = {
    now: () => state.time,
    elapsed: () => state.time,
    sleep: async (milliseconds) => {
      state.time += milliseconds;
    },
    random: () => 1 - Number.EPSILON,
  };
  const channel: Channel = {
    rates,
    inspect: async () => {
      throw new Error('not used');
    },
    sendTest: async () => {
      throw new Error('not used');
    },
    async send({ payload }) {
      seen.push({ text: payload.text, at: state.time });
      return waiting.shift() ?? delivered;
    },
  };
  let last = state.time;
  return {
    paths,
    spool,
    seen,
    notes,
    state,
    texts: () => seen.map(({ text }) => text),
    /** Queues one message per text as one entry. */
    queue(deploy: string, ...texts: string[]): EntryName {
      last += 1;
      const name = entryName(last, 0, 'telegram');
      const event = { deploy_id: deploy, texts: texts.join(' ') };
      spool.save(name, newEntry('telegram', event, new Date(last)));
      return name;
    },
    /** A new process: delivers for up to `budget` milliseconds. */
    async deliver(budget: number, eager = false): Promise<EntryResult[]> {
      const destination = new Destination({
        paths,
        channel: 'telegram',
        digest: state.digest,
        rates,
        clock,
        note: (text) => notes.push(text),
      });
      const note = (text: string) => notes.push(text);
      const queue = new Queue({ spool, channel: 'telegram', clock, note });
      const render = async ({ event }: QueueEntry) =>
        String(event.texts)
          .split(' ')
          .filter(Boolean)
          .map((text) => state.instead[text] ?? message(text));
      const endings: EntryResult[] = [];
      const deadline = state.time + budget;
      const caller: Caller = {
        eager,
        goesOn: (next) =>
          next !== undefined && next !== 'busy' && state.time + next.wait <= deadline,
        onEnd: (_, delivery) => void endings.push(delivery),
      };
      const lock = () => ({ release: () => {} });
      const open = () => destination;
      const moved = () => {};
      await deliverQueue({ queue, channel, clock, lock, open, render, moved }, caller);
      return endings;
    },
    entry(name: EntryName, place: 'queue' | 'dead' = 'queue') {
      const entry = spool.read(name, place);
      return entry === 'damaged' ? undefined : entry;
    },
  };
}

test('trouble that passes is tried again; what follows it in the deploy waits, other deploys go on', async () => {
  const { queue, deliver, texts } = world([retry, delivered, retry]);
  queue('d1', 'a');
  queue('d1', 'b');
  queue('d2', 'c');
  assert.is((await deliver(10_000)).length, 3);
  assert.equal(texts(), ['a', 'c', 'a', 'a', 'b']);
});

test('pauses after trouble double up to a minute', async () => {
  const { queue, deliver, seen } = world(Array.from({ length: 9 }, () => retry));
  queue('d1', 'a');
  await deliver(600_000);
  const pauses = seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0));
  assert.equal(
    pauses,
    [1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1000),
  );
});

test('three failures in a row give the whole destination a rest, other processes too', async () => {
  const { queue, deliver, texts } = world([retry, retry, retry]);
  for (const name of ['a', 'b', 'c', 'd', 'e']) queue(name, name);
  assert.equal(await deliver(0), []);
  assert.equal(await deliver(0), []);
  assert.equal(texts(), ['a', 'b', 'c']);
  assert.is((await deliver(2000)).length, 5);
});

test('a message that is tried in vain for a day is given up with its problem', async () => {
  const { queue, deliver, entry, state, seen } = world(Array.from({ length: 5000 }, () => retry));
  const name = queue('d1', 'a');
  const begin = state.time;
  state.time += 23 * 3_600_000;
  const [ending] = await deliver(2 * 3_600_000);
  assert.is(ending?.result, 'rejected');
  assert.equal(entry(name, 'dead')?.problem, problem);
  assert.ok(state.time - begin > 86_400_000 && state.time - begin < 86_500_000);
  assert.ok(seen.length > 60);
});

test('a message that was not tried for a day still gets some attempts', async () => {
  const { queue, deliver, state } = world([retry, retry]);
  queue('d1', 'a');
  state.time += 3 * 86_400_000;
  assert.is((await deliver(10_000))[0]?.result, 'delivered');
});

test('a clock that is set back or forth by a year stops nobody for longer than was asked', async () => {
  for (const jump of [-1, 1]) {
    const { queue, deliver, state } = world([wait(3000), retry], [{ count: 1, per: 2000 }]);
    queue('d1', 'a');
    queue('d2', 'b');
    await deliver(0);
    state.time += jump * 365 * 86_400_000;
    assert.is((await deliver(70_000)).length, 2);
  }
});

test('a refused message is put aside with its reason, and the next of the deploy goes on', async () => {
  const { queue, deliver, entry } = world([rejected()]);
  const name = queue('d1', 'a');
  queue('d1', 'b');
  assert.equal(
    (await deliver(0)).map(({ result }) => result),
    ['rejected', 'delivered'],
  );
  assert.equal(entry(name, 'dead')?.problem, problem);
});

test('a message that is refused for its form is sent in the other one', async () => {
  const { queue, deliver, texts, state } = world([rejected('markup'), rejected('length')]);
  const plain = message('plain', { length: message('short') });
  state.instead = { a: message('a', { markup: plain }) };
  queue('d1', 'a', 'b');
  const [ending] = await deliver(0, true);
  assert.equal([ending?.result, ending?.degraded, ending?.entry.sent], ['delivered', 'length', 2]);
  assert.equal(texts(), ['a', 'plain', 'short', 'b']);
});

test('more messages than the rate allows are spread, over processes too', async () => {
  const { queue, deliver, seen } = world([], [{ count: 2, per: 300 }]);
  for (const text of ['a', 'b', 'c', 'd', 'e']) {
    queue(text, text);
    await deliver(1000);
  }
  const times = seen.map(({ at }) => at);
  assert.is(times.length, 5);
  for (let index = 2; index < times.length; index += 1) {
    const gap = (times[index] as number) - (times[index - 2] as number);
    assert.ok(gap >= 300, `message ${index}: ${gap} ms`);
  }
});

test('a rest that the service announces is kept', async () => {
  const { queue, deliver, seen } = world([{ class: 'delivered', rest: 300 }]);
  queue('d1', 'a', 'b');
  assert.equal(await deliver(0), []);
  assert.is((await deliver(300)).length, 1);
  assert.ok((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0) >= 300);
});

test('a message whose answer was never seen is sent again and marked', async () => {
  const { queue, deliver } = world([dropped]);
  queue('d1', 'a');
  assert.is((await deliver(5000))[0]?.entry.maybe_duplicate, true);
});

test('a request that never left, or was answered, makes no duplicate', async () => {
  const refused: SendOutcome = {
    class: 'retry',
    problem: { ...problem, http_status: null, code: 'ECONNREFUSED' },
  };
  const { queue, deliver } = world([refused, retry]);
  queue('d1', 'a');
  assert.is((await deliver(5000))[0]?.entry.maybe_duplicate, false);
});

test('eager: what waits after trouble is tried once, whatever its pause is', async () => {
  const { queue, deliver, texts } = world([retry, retry, retry, retry]);
  for (const name of ['a', 'b', 'c', 'd']) queue(name, name);
  await deliver(0);
  assert.equal(texts(), ['a', 'b', 'c']);
  assert.equal(
    (await deliver(0, true)).map(({ result }) => result),
    ['delivered', 'delivered', 'delivered'],
  );
  assert.equal(texts(), ['a', 'b', 'c', 'a', 'b', 'c', 'd']);
});

test('a damaged file and an event that cannot be read are put aside and hold up nobody', async () => {
  const { queue, deliver, spool, notes, paths } = world();
  const name = queue('d1', 'a');
  const empty = queue('d2', '');
  queue('d1', 'b');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${paths.notifySpool}/${name}`, '{');
  const endings = await deliver(0);
  assert.equal(
    endings.map(({ result }) => result),
    ['rejected', 'delivered'],
  );
  assert.equal(spool.names('telegram', 'dead'), [name, empty]);
  assert.match(notes.join(), `${paths.notifySpool}/${name} is damaged; it was moved to dead/`);
});

test.run();
