/** What an app printed at its end: in the message that it is down, and in `runner why`. */
import { get } from 'node:http';
import { killApp } from '@runner/testing/app';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld } from './world.ts';

const test = suite('last-words');

const SERVER = `const { createServer } = require('node:http');
createServer((request, response) => {
  if (request.url === '/crash') {
    console.log('Error: refused: ' + process.env.KEY);
    console.log(undefined.total);
  }
  response.end('ok');
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
`;

test('an app that crashed is announced with the lines of its output that say why, and why shows them', async () => {
  const world = await makeWorld();
  const type = (tool: string, ...args: string[]) => run(`runner-${tool}`, args, world);
  const secret = 'a-long-secret-1234';
  const { root } = world;
  await run('runner-env', ['set', 'shop', 'KEY', '--file', '-'], { root, stdin: secret });
  await world.launch('v1', { files: { 'server.js': SERVER } });
  get(`http://127.0.0.1:${world.port}/crash`).on('error', () => {});
  await until(async () => (await world.page()) === null, 'it has crashed');
  assert.match((await type('fetch', '--deploy')).stdout, 'runner start shop');
  const down = world.events().at(-1);
  assert.is(down?.event_type, 'AppDown');
  const cause = /^TypeError: Cannot read properties of undefined \(reading 'total'\)/m;
  assert.match(String(down?.cause), cause);
  assert.match(String(down?.cause), 'Error: refused: [REDACTED]\n');
  const shown = await run('runner-notify', ['preview', '--channel', 'telegram'], {
    root,
    stdin: `${JSON.stringify(down)}\n`,
  });
  assert.match(shown.stdout, /TypeError: Cannot read properties of undefined/, shown.stderr);
  assert.match((await type('why', 'shop')).stdout, /^ {2}printed: +TypeError: Cannot read/m);
  // Of what ran before it was started again, nothing is said of it.
  assert.is((await type('start', 'shop')).status, 0);
  killApp(world.root, 'shop');
  await until(async () => (await world.page()) === null, 'it was killed');
  assert.match((await type('fetch', '--deploy')).stdout, 'runner start shop');
  assert.is(world.events().at(-1)?.event_type, 'AppDown');
  assert.is(world.events().at(-1)?.cause, undefined);
  assert.is((await type('why', 'shop')).stdout.includes('printed:'), false);
  await world.close();
});

test.run();
