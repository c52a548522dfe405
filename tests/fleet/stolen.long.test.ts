/**
 * What a stolen server can sign: it is reported as that server's problem, and the others are heard.
 * FLEET_BROKER_MUTATIONS: how many random messages, 36 by default.
 */

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { whenBroker } from '@runner/testing/broker';
import type { Ended } from '@runner/testing/run';
import * as fc from 'fast-check';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { bodyOf, mutated } from './mutated.ts';
import { CONTROL, type Fields, goodBatch, goodResult } from './stolen.ts';
import {
  assertSafe,
  COMMIT,
  head,
  LIE,
  planned,
  says,
  serversIn,
  stolenSuite,
} from './stolen-suite.ts';

const test = stolenSuite('stolen server');
const withBroker = whenBroker(test);

const MUTATIONS = Number(process.env.FLEET_BROKER_MUTATIONS ?? 36);

const STATES: Readonly<Record<string, Fields>> = {
  'control characters in times and numbers': {
    at: `x${CONTROL}`,
    events: { sent: 1, waiting: `9${CONTROL}` },
  },
  'an app that is null': { apps: [null] },
  'a wildcard as an app': { apps: [{ app: '*', version: '1', commit: COMMIT, held: null }] },
  'an app with a blank': { apps: [{ app: 'a b', version: '1', commit: COMMIT, held: null }] },
  'an app that would end the line of the protocol': {
    apps: [{ app: 'x 0\r\n\r\nPUB runner.step.web2.pwned 5\r\nhello\r\nPUB x' }],
  },
  'an object as an app': { apps: [{ app: { toString: 1 }, version: {} }] },
  'a number as events': { events: 1 },
  'a huge number': { events: { sent: 1e308, waiting: -1 } },
  'no apps': { apps: undefined },
};

for (const [name, fields] of Object.entries(STATES))
  withBroker(`a reply with ${name}: web1 is bad, web2 is up`, async ({ operator, fleet }) => {
    says.web1 = fields;
    const { lines, ...ended } = await fleet('status');
    assertSafe(ended);
    const servers = serversIn(lines);
    assert.equal([ended.status, servers.map(({ state }) => state)], [0, ['bad', 'up']]);
    assert.match(String(servers[0]?.problem), /^web1 sent a state that cannot be read: /);
    const shown = await operator.fleet(['status']);
    assertSafe(shown);
    assert.match(
      shown.stdout,
      /^web1 .* bad.*web1 sent a state that cannot be read: .*\nweb2 .* up/,
    );
  });

const EVENTS: Readonly<Record<string, Fields | string>> = {
  'no gzip': { ...goodBatch(''), lines: undefined, z: 'AAAA' },
  'gzip of 400 MB': { ...goodBatch(''), lines: undefined, z: bomb() },
  'wrong types': { n: 'x', prev: 5, file: {}, from: 'a', to: 'b', gap: 1, lines: 5 },
  'an object as lines': { ...goodBatch(''), lines: { length: 5 } },
  'no JSON': 'x',
};

function bomb(): string {
  return gzipSync(Buffer.alloc(400_000_000)).toString('base64');
}

withBroker('batches that cannot be read are named; the events of web2 are shown', async (scene) => {
  const { thief, honest, operator, fleet } = scene;
  for (const body of Object.values(EVENTS))
    await thief.store('runner.event.web1', thief.sealed('events', body));
  const record = { event_type: 'DeploySuccess', project: 'shop', version: 'v1' };
  const line = `${JSON.stringify({ ...record, timestamp: new Date().toISOString() })}\n`;
  await honest.store('runner.event.web2', honest.sealed('events', goodBatch(line)));
  const seen = await fleet('events');
  assertSafe(seen);
  assert.equal([seen.status, seen.lines.map(({ server }) => server)], [1, ['web2']], seen.stderr);
  const named = seen.stderr.match(/message \d+: web1 sent events that cannot be read: /g);
  assert.is(named?.length, Object.keys(EVENTS).length, seen.stderr);
  says.web1 = {};
  const verified = await fleet('verify');
  assertSafe(verified);
  const servers = verified.lines[0]?.servers as { problems: string[]; batches: number }[];
  assert.equal(
    [verified.status, servers.map(({ problems }) => problems.length > 0), servers[1]?.batches],
    [1, [true, false], 1],
  );
  assertSafe(await operator.fleet(['events', '--raw']));
});

const RESULTS: Readonly<Record<string, Fields | string>> = {
  'control characters': goodResult({
    message: `ok${CONTROL}`,
    deploy_id: `d${CONTROL}`,
    version: `v1${CONTROL}`,
    at: `2026${CONTROL}`,
    app: `shop${CONTROL}`,
    duration_ms: `9${CONTROL}`,
  }),
  'wrong types': goodResult({ message: { a: 1 }, version: [1], app: null, duration_ms: null }),
  'two fields': { status: 'failed', digest: 'x' },
  'an unknown verb': goodResult({ verb: 'zzz' }),
  'no JSON': '[]',
};

for (const [name, body] of Object.entries(RESULTS))
  withBroker(`a result with ${name} on standard input is web1's problem`, async (scene) => {
    const good = scene.honest.sealed('result', goodResult());
    const stdin = `${scene.thief.sealed('result', body)}\n${good}\n`;
    const { status, stdout, stderr } = await scene.operator.fleet(['results', '-'], { stdin });
    assertSafe({ status, stdout, stderr } as Ended);
    assert.is(status, 1, stderr);
    assert.match(
      stdout,
      /^web1 +unreadable +web1 sent a result that cannot be read: .*\nweb2 +deployed/,
    );
  });

withBroker(
  'a result of the canary that cannot be read stops its rollout, and ends it',
  async (scene) => {
    const { thief, honest, fleet } = scene;
    says.web1 = { head: head(COMMIT) };
    let answer: (order: Fields, good: Fields) => Fields = (_, good) => ({ ...good, verb: 'zzz' });
    void thief.serve((order, good) => thief.sealed('result', answer(order, good)));
    void honest.serve((_, good) => honest.sealed('result', good));
    const stopped = await fleet('deploy', 'shop');
    assertSafe(stopped);
    const end = stopped.lines.at(-1) as Fields;
    assert.equal([stopped.status, end.result, end.failed, end.not_ordered], [1, 'stopped', 1, 1]);
    const shown = await fleet('results', String(end.rollout));
    assert.equal(
      shown.lines.map(({ status }) => status),
      ['unreadable', 'not_ordered'],
    );
    answer = (_, good) => ({ ...good, verb: 'hold', status: 'paused' });
    const other = await fleet('deploy', 'shop', '--max-failures', '1');
    assertSafe(other);
    assert.equal(
      other.lines.slice(1, 3).map(({ status }) => status),
      ['unreadable', 'deployed'],
    );
  },
);

withBroker(
  'random changes of its messages reach no terminal and hide no other server',
  async (scene) => {
    const { thief, operator, fleet } = scene;
    const all = fc
      .sample(mutated, MUTATIONS)
      .map((each) => ({ use: each.use, body: bodyOf(each) }));
    const of = (use: string) => all.filter((each) => each.use === use).map(({ body }) => body);
    for (const body of of('events'))
      await thief.store('runner.event.web1', thief.sealed('events', body));
    const results = of('result').map((body) => thief.sealed('result', body));
    for (const text of results) await thief.store('runner.result.web1.r-99999999', text);
    for (const body of of('state')) {
      await thief.store('runner.state.web1', thief.sealed('state', body));
      says.web1 = body;
      const shown = await fleet('status');
      assertSafe(shown);
      assert.is(serversIn(shown.lines)[1]?.state, 'up', shown.stdout);
    }
    says.web1 = {};
    for (const args of [['events'], ['events', '--json'], ['verify'], ['verify', '--json']]) {
      const ended = await operator.fleet(args);
      assertSafe(ended);
      assert.match(ended.stdout, /web2/);
    }
    const stdin = [...results, scene.honest.sealed('result', goodResult())].join('\n');
    const shown = await operator.fleet(['results', '-'], { stdin });
    assertSafe(shown);
    assert.match(shown.stdout, /\nweb2 +deployed|^web2 +deployed/);
  },
);

withBroker('a lying server cannot choose the commit of another', async (scene) => {
  const [alone, error, text] = await planned(scene, null);
  assert.equal([alone, error], [1, 'server_offline'], text);
  assert.match(text, /only web1 says which commit to deploy: .* use --ref with the full commit/);
  assert.equal((await planned(scene, head(COMMIT))).slice(0, 2), [1, 'commit_disagrees']);
  assert.equal((await planned(scene, null, '--ref', 'main')).slice(0, 2), [1, 'server_offline']);
  assert.equal((await planned(scene, null, '--ref', COMMIT)).slice(0, 2), [0, COMMIT]);
  assert.equal((await planned(scene, head(LIE))).slice(0, 2), [0, LIE]);
  says.web1 = { head: { ...head(LIE), version: CONTROL } };
  const named = await scene.fleet('deploy', 'shop', '--plan');
  assertSafe(named);
  assert.match(
    named.stderr,
    /web1 sent a state that cannot be read: head\.version is not a version/,
  );
  // Its answer for itself alone.
  assert.equal((await planned(scene, null, '--on', 'web1')).slice(0, 2), [0, LIE]);
});

withBroker('a rollout that only the broker knows is not signed again unseen', async (scene) => {
  const { operator, broker, fleet } = scene;
  const stopped = await fleet('deploy', 'shop', '--ref', COMMIT, '--wait', '1s');
  const id = String(stopped.lines[0]?.rollout);
  const seed = readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim();
  const owner = await openBroker({ url: broker.url, ca: undefined, seed, name: 'test' });
  const stored = (await owner.last('ROLLOUT', 'runner.rollout.shop'))?.text ?? '';
  const altered = stored.replaceAll(COMMIT, LIE);
  await owner.store('runner.rollout.shop', altered);
  const resumed = await fleet('resume', id);
  assert.is(resumed.lines[0]?.commit, COMMIT, resumed.stderr);
  rmSync(join(operator.root, 'fleet/rollouts'), { recursive: true });
  const unseen = await fleet('resume', String(resumed.lines[0]?.rollout));
  assert.equal([unseen.status, unseen.lines[0]?.error], [1, 'order_invalid'], unseen.stderr);
  await owner.store('runner.rollout.shop', `{"rollout":"${CONTROL}"}`);
  assertSafe(await fleet('rollouts'));
  await owner.close();
});

test.run();
