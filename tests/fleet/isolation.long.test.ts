/**
 * A stolen server and the broker: nothing that its key can say changes what is another's. Each attempt
 * must fail with the configuration that `fleet broker config` prints, and have its effect where all are in one
 * account: so the attempts are real.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { freePort } from '@runner/testing/app';
import { hasBroker, type TestBroker, testBroker, whenBroker } from '@runner/testing/broker';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { makeOperator, must, type Operator, signedOrder } from './world.ts';

interface Stage {
  operator: Operator;
  broker: TestBroker;
  web1: string;
}
const test = suite<Stage>('isolation');
const withBroker = whenBroker(test);

const keyIn = (root: string, file: string) => readFileSync(join(root, file));

/** Logged in with the key of a file. */
const login = (broker: TestBroker, seed: Uint8Array): Promise<NatsConnection> =>
  connect({
    servers: broker.url.replace('nats://', ''),
    authenticator: nkeyAuthenticator(new TextEncoder().encode(Buffer.from(seed).toString().trim())),
    reconnect: false,
    inboxPrefix: '_INBOX_stolen',
  });

/** Everything in one account: what the isolation is for. */
function withoutIsolation(configuration: string): string {
  const users = [...configuration.matchAll(/nkey: (U\w+)/g)].map(([, key]) => `{ nkey: ${key} }`);
  const head = configuration.slice(0, configuration.indexOf('accounts {'));
  return `${head}accounts {\n  ALL {\n    jetstream: enabled\n    users: [ ${users.join(', ')} ]\n  }\n}\n`;
}

/** The number of messages of each stream, with the newest of web2's subjects. */
async function contents(owner: NatsConnection): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const stream of STREAMS) {
    const body = JSON.stringify({ subjects_filter: '>' });
    const answer = await owner.request(`$JS.API.STREAM.INFO.${stream}`, body, { timeout: 2_000 });
    const { state, error } = answer.json<{ state?: Record<string, unknown>; error?: unknown }>();
    // What web1 says of itself is its own affair.
    const others = Object.entries((state?.subjects ?? {}) as Record<string, number>).filter(
      ([subject]) => !/\.web1\b/.test(subject) || subject.startsWith('runner.order'),
    );
    seen[stream] = error ?? Object.fromEntries(others);
  }
  const consumer = await owner.request('$JS.API.CONSUMER.INFO.ORDERS.web2', '', { timeout: 2_000 });
  const { num_pending, num_ack_pending, error } = consumer.json<Record<string, unknown>>();
  return { ...seen, mailbox: error ?? [num_pending, num_ack_pending] };
}

/** What web1's key tries: subject, text, and where the broker's answer goes. `API` is what it may reach. */
const ATTEMPTS: readonly (readonly [
  what: string,
  subject: string,
  text: string,
  reply?: string,
])[] = [
  ['orders web2', 'runner.order.web2', 'x'],
  ['speaks as web2', 'runner.event.web2', 'x'],
  ['answers as web2', 'runner.result.web2.r-00000001', 'x'],
  ['says the state of web2', 'runner.state.web2', 'x'],
  ['claims an app', 'runner.rollout.shop', 'x'],
  ['empties a stream', 'API.STREAM.PURGE.EVENTS', ''],
  ['deletes a mailbox', 'API.CONSUMER.DELETE.ORDERS.web2', ''],
  ['takes an order of web2', 'API.CONSUMER.MSG.NEXT.ORDERS.web2', '1', '_INBOX_stolen.x'],
  ['aims the answer to its event at web2', 'runner.event.web1', 'x', 'runner.event.web2'],
  ['aims the answer to its event at a mailbox', 'runner.event.web1', 'x', 'runner.order.web2'],
  [
    'aims the answer to its state at a result',
    'runner.state.web1',
    'x',
    'runner.result.web2.r-00000002',
  ],
  ['aims a question at web2', 'API.CONSUMER.INFO.ORDERS.web1', '', 'runner.event.web2'],
  ['aims its order at a mailbox', 'API.CONSUMER.MSG.NEXT.ORDERS.web1', '1', 'runner.order.web2'],
  ['deletes a stream', 'API.STREAM.DELETE.EVENTS', ''],
];

test.before(async (context) => {
  if (!hasBroker()) return;
  context.broker = testBroker(await freePort());
  context.operator = await makeOperator(context.broker.url);
  context.web1 = temporaryFolder('web1');
  await context.operator.enrol('web1', context.web1);
  await context.operator.enrol('web2', temporaryFolder('web2'));
});

test.after(async ({ broker }) => broker?.kill());

const STREAMS = ['ORDERS', 'RESULTS', 'EVENTS', 'STATE', 'ROLLOUT'];

/** Makes an attempt on new streams with something in them; returns what they held before and after. */
async function attempt({ operator, broker, web1 }: Stage, row: (typeof ATTEMPTS)[number]) {
  const seed = keyIn(operator.root, 'fleet/operator.nk').toString().trim();
  const owner = await login(broker, Buffer.from(seed));
  for (const stream of STREAMS)
    await owner.request(`$JS.API.STREAM.DELETE.${stream}`, '', { timeout: 2_000 });
  const maker = await openBroker({ url: broker.url, ca: undefined, seed, name: 'test' });
  await maker.createStreams();
  for (const server of ['web1', 'web2']) {
    await maker.createMailbox(server);
    for (const kind of ['order', 'event']) await maker.store(`runner.${kind}.${server}`, 'mine');
  }
  const thief = await login(broker, keyIn(web1, 'agent/login.nk'));
  thief.subscribe('_INBOX_stolen.>', { callback: () => {} });
  const before = await contents(owner);
  const [, subject, text, reply] = row;
  for (const prefix of ['$JS.API', 'FL.API']) {
    const options = reply === undefined ? {} : { reply };
    thief.publish(subject.replace(/^API/, prefix), text, options);
  }
  await thief.flush().catch(() => {});
  // The broker has carried out what came before this answer.
  await owner.request('$JS.API.INFO', '', { timeout: 2_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = await contents(owner);
  await Promise.all([owner.close(), thief.close(), maker.close()]);
  return { before, after };
}

const configurationOf = async ({ operator, broker }: Stage) =>
  must(operator.fleet(['broker', 'config', '--store', broker.store]));

const began: Record<string, boolean> = {};

/** Starts the broker once for each way. */
async function startOnce(stage: Stage, way: 'isolated' | 'open'): Promise<void> {
  if (began[way]) return;
  began[way] = true;
  const printed = await configurationOf(stage);
  await stage.broker.start(way === 'open' ? withoutIsolation(printed) : printed);
}

for (const row of ATTEMPTS) {
  withBroker(`a stolen server ${row[0]}: nothing changes`, async (stage) => {
    await startOnce(stage, 'isolated');
    const { before, after } = await attempt(stage, row);
    assert.equal(after, before);
  });
}

for (const row of ATTEMPTS) {
  withBroker(`without the accounts it would: a stolen server ${row[0]}`, async (stage) => {
    await startOnce(stage, 'open');
    const { before, after } = await attempt(stage, row);
    assert.not.equal(after, before, 'the attempt has no effect where nothing is isolated');
  });
}

withBroker('an agent refuses a broker that does not isolate it', async (stage) => {
  const check = async () =>
    (await run('runner-agent', ['check'], { root: stage.web1 })).stdout.replace(
      /\S+ lets/,
      'URL lets',
    );
  const printed = await configurationOf(stage);
  const refused =
    /broker {4}problem {2}URL lets web1 reach more than its own subjects: .* \(broker_unsafe\)/;
  await stage.broker.start(withoutIsolation(printed));
  assert.match(await check(), refused);
  await stage.broker.start(printed.replaceAll('SRV_web1', 'SRV_other'));
  assert.match(await check(), refused);
  await stage.broker.start(printed);
  await must(stage.operator.fleet(['broker', 'check']));
  assert.match(await check(), /broker {4}ok/);
});

withBroker('a stolen server hears nothing of what others say', async (stage) => {
  await stage.broker.start(await configurationOf(stage));
  await must(stage.operator.fleet(['broker', 'check']));
  const thief = await login(stage.broker, keyIn(stage.web1, 'agent/login.nk'));
  const heard: string[] = [];
  thief.subscribe('>', { callback: (_, { subject }) => void heard.push(subject) });
  await thief.flush();
  const order = signedOrder('hold', 'shop', { key: stage.operator.key, servers: ['web2'] });
  await stage.operator.fleet(['send', '--wait', '1s'], { stdin: order });
  await thief.flush();
  assert.equal(heard, []);
  await thief.close();
});

withBroker('a removed server is refused once the configuration is reloaded', async (stage) => {
  await stage.broker.start(await configurationOf(stage));
  const thief = await login(stage.broker, keyIn(stage.web1, 'agent/login.nk'));
  await must(stage.operator.fleet(['remove', 'web1']));
  stage.broker.reload(await configurationOf(stage));
  await thief.closed();
  const refused = await login(stage.broker, keyIn(stage.web1, 'agent/login.nk')).catch(String);
  assert.match(String(refused), /authorization/i);
});

test.run();
