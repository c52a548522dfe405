import { connect, type Socket } from 'node:net';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { BODY, bellSuite } from './bell.ts';
import { headersOf, send } from './clients.ts';
import { forge } from './forged.ts';

const test = bellSuite('bell');

test('1,000 forged calls start nothing and leak nothing', ({ bell }) => forge(bell, 1_000, 1));

test('while eight calls hang, the next gets a request to retry, and then succeeds', async ({
  bell,
}) => {
  const head = 'POST /github HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n';
  const slow: Socket[] = [];
  for (let each = 0; each < 8; each += 1)
    slow.push(connect(bell.port, '127.0.0.1').on('error', () => {}));
  for (const socket of slow) socket.write(head);
  const headers = headersOf('github', bell.secrets.github, BODY);
  const call = () => send(bell.port, { path: '/github', headers, body: BODY });
  await until(async () => (await call()).status === 429, 'eight slow calls are no burden');
  assert.is((await call()).headers['retry-after'], '5');
  for (const socket of slow) socket.destroy();
  await until(async () => (await call()).status === 202, 'it does not recover');
});

test.run();
