import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Channel, Complaint, Message, Outcome, Problem } from '../src/channels/channel.ts';
import { courierFor } from '../src/courier.ts';

const problem: Problem = {
  method: 'test',
  http_status: 500,
  code: 500,
  description: 'trouble',
  retryable: true,
  hint: undefined,
};
const delivered: Outcome = { class: 'delivered', rest: 0 };
const retry: Outcome = { class: 'retry', problem };
const rejected = (complaint?: Complaint): Outcome => ({
  class: 'rejected',
  problem,
  ...(complaint && { complaint }),
});
const gone: Outcome = { class: 'gone', problem };
const wait = (delay: number): Outcome => ({ class: 'wait', delay, problem });

const clock = { elapsed: () => performance.now(), random: () => new Uint8Array([0]) };

function message(text: string, other?: Partial<Record<Complaint, Message>>): Message {
  return { payload: { text }, instead: (complaint) => other?.[complaint] };
}

/** A channel that answers as told, then delivers; `seen` has the texts and their times. */
function courierOf(
  outcomes: readonly Outcome[],
  rates: Channel['rates'] = [{ count: 100, per: 1000 }],
) {
  const waiting = [...outcomes];
  const seen: { text: unknown; at: number }[] = [];
  const channel: Channel = {
    name: 'telegram',
    rates,
    render: () => [],
    async deliver({ payload }) {
      seen.push({ text: payload.text, at: performance.now() });
      return waiting.shift() ?? delivered;
    },
  };
  return { seen, texts: () => seen.map(({ text }) => text), courier: courierFor(channel, clock) };
}

test('messages are delivered in order', async () => {
  const { courier, texts } = courierOf([]);
  const ending = await courier.bring([message('a'), message('b')], 0);
  assert.equal(ending, {
    messages: 2,
    failure: undefined,
    degraded: undefined,
    movedTo: undefined,
  });
  assert.equal(texts(), ['a', 'b']);
});

test('trouble that passes is tried again, and later messages wait for their turn', async () => {
  const { courier, texts } = courierOf([retry, retry]);
  const ending = await courier.bring([message('a'), message('b')], 5000);
  assert.is(ending.messages, 2);
  assert.equal(texts(), ['a', 'a', 'a', 'b']);
});

test('without time to wait a message is tried once, and what follows it is kept back', async () => {
  const { courier, texts } = courierOf([retry]);
  const ending = await courier.bring([message('a'), message('b')], 0);
  assert.is(ending.messages, 0);
  assert.equal(ending.failure, retry);
  assert.equal(texts(), ['a']);
});

test('the service is given the time that it asks for', async () => {
  const { courier, seen } = courierOf([wait(300)]);
  assert.is((await courier.bring([message('a')], 5000)).messages, 1);
  const [first, second] = seen.map(({ at }) => at) as [number, number];
  assert.ok(second - first >= 299, `${second - first} ms`);
});

test('a longer wait than there is time for gives up at once, and keeps the next message from asking', async () => {
  const { courier, texts } = courierOf([wait(60_000)]);
  const first = await courier.bring([message('a')], 1000);
  const second = await courier.bring([message('b')], 1000);
  assert.is(first.failure?.class, 'wait');
  assert.is(second.failure?.class, 'wait');
  assert.equal(texts(), ['a']);
});

test('a service that says wait 0 for ever is given up', async () => {
  const { courier } = courierOf(Array.from({ length: 1000 }, () => wait(0)));
  assert.is((await courier.bring([message('a')], 350)).failure?.class, 'wait');
});

test('a refused message is not tried again, and the next notice is', async () => {
  const { courier, texts } = courierOf([rejected()]);
  assert.equal((await courier.bring([message('a')], 5000)).failure, rejected());
  assert.is((await courier.bring([message('b')], 5000)).messages, 1);
  assert.equal(texts(), ['a', 'b']);
});

test('a destination that is gone is never called again', async () => {
  const { courier, texts } = courierOf([gone]);
  assert.equal((await courier.bring([message('a')], 5000)).failure, gone);
  assert.equal((await courier.bring([message('b')], 5000)).failure, gone);
  assert.equal(texts(), ['a']);
});

test('a message that is refused for its form is sent in the other one', async () => {
  const { courier, texts } = courierOf([rejected('markup'), rejected('length')]);
  const plain = message('plain', { length: message('short') });
  const ending = await courier.bring([message('a', { markup: plain })], 0);
  assert.is(ending.messages, 1);
  assert.is(ending.degraded, 'length');
  assert.equal(texts(), ['a', 'plain', 'short']);
});

test('more messages than the rate allows are spread', async () => {
  const { courier, seen } = courierOf([], [{ count: 2, per: 300 }]);
  await courier.bring(
    ['a', 'b', 'c', 'd', 'e'].map((text) => message(text)),
    0,
  );
  const times = seen.map(({ at }) => at);
  for (let index = 2; index < times.length; index += 1) {
    const gap = (times[index] as number) - (times[index - 2] as number);
    assert.ok(gap >= 298, `message ${index}: ${gap} ms`);
  }
});

test('a rest that the service wants is kept also when the next message has no time to wait', async () => {
  const { courier, seen } = courierOf([{ class: 'delivered', rest: 300 }]);
  assert.is((await courier.bring([message('a'), message('b')], 0)).messages, 2);
  const [first, second] = seen.map(({ at }) => at) as [number, number];
  assert.ok(second - first >= 299, `${second - first} ms`);
});

test.run();
