/**
 * What a stolen server can sign: it is reported as that server's problem, and the others are heard.
 * FLEET_BROKER_MUTATIONS: how many random messages, 36 by default.
 */
import { whenBroker } from '@runner/testing/broker';
import * as assert from 'uvu/assert';
import { CONTROL, goodBatch } from './stolen.ts';
import { assertSafe, LIE, planned, says, serversIn, stolenSuite } from './stolen-suite.ts';

const test = stolenSuite('stolen server');
const withBroker = whenBroker(test);

withBroker('the last records of an offline server are checked, too', async ({ thief, fleet }) => {
  await thief.store('runner.state.web1', thief.sealed('state', { at: `x${CONTROL}`, apps: [] }));
  says.web1 = { nonce: 'another' };
  const { lines, ...ended } = await fleet('status');
  assertSafe(ended);
  assert.equal(
    serversIn(lines).map(({ state }) => state),
    ['bad', 'up'],
  );
});

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

const RECORDS = [
  `{"event_type":"DeployFailure","project":"s${'\\u001b[31m'}","timestamp":"2026-11-23","version":"\\u001b[2J"}`,
  '{"event_type":{"toString":1,"valueOf":1},"project":{"toString":1,"valueOf":1},"timestamp":[]}',
  `{"event_type":"DeployFailure","project":"shop","deep":${deep}}`,
  `\x1b]0;RAW\x07not json`,
];

withBroker('records of no known writer are escaped or left out', async (scene) => {
  const lines = `${RECORDS.join('\n')}\n`;
  const sealed = scene.thief.sealed('events', goodBatch(lines));
  for (const args of [[], ['--json']]) {
    const ended = await scene.operator.fleet(['events', '--stdin', ...args], { stdin: sealed });
    assertSafe(ended);
  }
});

withBroker('an online server does not decide for an offline one', async (scene) => {
  await scene.honest.close();
  const [status, error] = await planned(scene, null, '--offline', 'wait');
  assert.equal([status, error], [1, 'server_offline']);
  assert.equal((await planned(scene, null, '--offline', 'skip')).slice(0, 2), [0, LIE]);
});

test.run();
