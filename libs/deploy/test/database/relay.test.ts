/** The relay of a rehearsal, which is outside of the sandbox of the migration. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DatabaseAddress } from '../../src/database/address.ts';
import { startRelay } from '../../src/database/relay.ts';

const asRoot = process.geteuid?.() === 0 ? test : test.skip;

/** A server that counts its connections. */
async function serverAt(path: string) {
  const seen = { count: 0 };
  const server = createServer((socket) => {
    seen.count += 1;
    socket.on('error', () => {}).end('hello');
  }).listen(path);
  await once(server, 'listening');
  return { seen, close: () => server.close() };
}

async function answerOf(url: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (piece) => {
    text += piece;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return text;
}

asRoot('a socket that the sandbox hides is not reached through the relay', async () => {
  const hidden = mkdtempSync('/run/runner-test-');
  const folder = temporaryFolder('relay', '/tmp');
  const [own, link] = [join(folder, 'own.sock'), join(folder, 'mysqld.sock')];
  const other = await serverAt(join(hidden, 'private.sock'));
  const plain = await serverAt(own);
  symlinkSync(own, link);
  const address = { url: `mysql://ada@localhost/shop?socket=${link}` } as DatabaseAddress;
  const relay = await startRelay(address, 'shop');
  try {
    assert.is(await answerOf(relay.url), 'hello');
    unlinkSync(link);
    symlinkSync(join(hidden, 'private.sock'), link);
    assert.is(await answerOf(relay.url), '');
    assert.equal([plain.seen.count, other.seen.count], [1, 0]);
    unlinkSync(link);
    assert.is(await answerOf(relay.url), '');
  } finally {
    relay.close();
    for (const each of [plain, other]) each.close();
    rmSync(hidden, { recursive: true });
  }
});

test.run();
