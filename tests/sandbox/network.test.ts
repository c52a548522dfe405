/** A build that may reach only some hosts. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld, type World } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

const sandbox = suite('the network of a build');
const test = isAvailable ? sandbox : sandbox.skip;

const REQUIRED = { RUNNER_SANDBOX: 'required' };
const ask = (address: string) =>
  `node -e "fetch('${address}').then(async (r) => console.log('got', r.status, await r.text()), (e) => { console.error(e.cause.message); process.exit(1) })"`;

/** An HTTP server on loopback. */
async function withServer(body: (port: number) => Promise<void>): Promise<void> {
  const server: Server = createServer((_, answer) => answer.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await body((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

const push = (world: World, version: string, build: object) =>
  world.push(version, { deploy: `build: ${JSON.stringify(build)}\n` });

/** A list of the last record. */
const fieldOf = (world: World, name: string) =>
  (world.events().at(-1)?.[name] ?? []) as Record<string, unknown>[];

test('a build reaches a host of its list, and the record says so', () =>
  inWorld((world) =>
    withServer(async (port) => {
      const run = ask(`http://localhost:${port}/`);
      await push(world, 'v1', { run, network: [`localhost:${port} private`] });
      const done = await world.deploy([], REQUIRED);
      assert.is(done.status, 0, done.stderr);
      const [host] = fieldOf(world, 'network');
      assert.is(host?.host, 'localhost');
      assert.is(host?.port, port);
      assert.is(host?.connections, 1);
      assert.ok(Number(host?.up) > 50 && Number(host?.down) > 50, JSON.stringify(host));
    }),
  ));

test('another host is refused, and the failure names it, its command and the line to add', () =>
  inWorld(async (world) => {
    await push(world, 'v1', {
      run: ask('https://evil.example.org/'),
      network: ['good.example.org'],
    });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 1);
    const event = world.events().at(-1);
    const [first] = String(event?.cause).split('\n');
    assert.match(
      first ?? '',
      /^the build may not reach evil\.example\.org \(asked for by node -e fetch\(.*\); to allow it, add to build\.network of \.deploy\.yml: evil\.example\.org$/,
    );
    const [refused] = fieldOf(world, 'network_refused');
    assert.is(refused?.host, 'evil.example.org');
    assert.is(refused?.why, 'unlisted');
  }));

sandbox.run();
