/** Many requests in many holds: HOLD_ROUNDS=200 for 100,000. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyResponse, request } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld } from './world.ts';

const test = suite('many held requests');

const ROUNDS = Number(process.env.HOLD_ROUNDS ?? 3);
const EACH = 500;

/** Notes when it answered each request; its queue is shorter than what waits. */
const SERVER = `const { appendFileSync } = require('node:fs');
require('node:http').createServer((request, response) => {
  if (request.url !== '/health') appendFileSync('seen', Date.now() + '\\n');
  request.resume().on('end', () => response.end('ok'));
}).listen({ path: process.env.PORT, backlog: 128 });`;

test('none reaches the app while it is held, and none is lost when it ends', async () => {
  const world = await makeTrafficWorld();
  const hold = (...args: string[]) => world.runner('hold-traffic', 'shop', ...args);
  try {
    const files = { ...trafficFiles('v1'), 'server.js': SERVER, seen: '' };
    await world.launch('v1', { deploy: trafficFile(), files });
    let early = 0;
    let lost = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const held = await hold('--for', '5m');
      assert.is(held.status, 0, held.stderr);
      const seen = () =>
        readFileSync(join(world.dir, 'current/seen'), 'utf8').split('\n').filter(Boolean).length;
      const before = seen();
      const sent: Promise<ProxyResponse>[] = [];
      for (let at = 0; at < EACH; at += 1) {
        sent.push(request(world.proxy.port, '/', at % 2 === 0 ? 'x'.repeat(2_048) : undefined));
        if (at % 50 === 0) await sleep(5);
      }
      await sleep(100);
      early += seen() - before;
      assert.is((await hold('--end')).status, 0);
      lost += (await Promise.all(sent)).filter(({ status }) => status !== 200).length;
    }
    console.log(
      `${ROUNDS * EACH} requests in ${ROUNDS} holds: ${early} answered early, ${lost} lost`,
    );
    assert.equal([early, lost], [0, 0]);
  } finally {
    await hold('--end');
    await world.close();
  }
});

test.run();
