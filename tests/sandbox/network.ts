/** What the short and the long tests of network share. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import type { World } from '../deploys/world.ts';
import { isAvailable } from './available.ts';

export const sandbox = suite('the network of a build');
export const test = isAvailable ? sandbox : sandbox.skip;

export const REQUIRED = { RUNNER_SANDBOX: 'required' };

export const ask = (address: string) =>
  `node -e "fetch('${address}').then(async (r) => console.log('got', r.status, await r.text()), (e) => { console.error(e.cause.message); process.exit(1) })"`;

/** An HTTP server on loopback. */
export async function withServer(body: (port: number) => Promise<void>): Promise<void> {
  const server: Server = createServer((_, answer) => answer.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await body((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

export const push = (world: World, version: string, build: object) =>
  world.push(version, { deploy: `build: ${JSON.stringify(build)}\n` });

/** A list of the last record. */
export const fieldOf = (world: World, name: string) =>
  (world.events().at(-1)?.[name] ?? []) as Record<string, unknown>[];
