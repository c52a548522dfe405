/** What HAProxy says of a backend. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { haproxyCounters } from '@runner/deploy/proxy/haproxy';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('HAProxy');
const HEAD = '# pxname,svname,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,\n';
const ROW = 'shop,BACKEND,0,40000,0,0,1234,0,\n';

async function countersOf(answer: string) {
  const socket = join(temporaryFolder('haproxy', '/tmp'), 'admin');
  const server = createServer((asked) => asked.end(answer)).listen(socket);
  try {
    return await haproxyCounters({ socket, backend: 'shop' });
  } finally {
    server.close();
  }
}

test('an answer that is cut short says nothing: half a number would count as errors later', async () => {
  const whole = await countersOf(`${HEAD}${ROW}\n`);
  assert.equal(whole, { failed: 1234, all: 41234 });
  assert.is(await countersOf(`${HEAD}${ROW.slice(0, -5)}`), undefined);
  assert.is(await countersOf(`${HEAD}${ROW.slice(0, 22)}`), undefined);
});

test.run();
