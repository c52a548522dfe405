/** The relay of a rehearsal, which is outside of the sandbox of the migration. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
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

/** Capabilities of MySQL 8.0.36: everything that both know is used. */
const [EVERYTHING, ATTRIBUTES] = [0xdfff_ffff, 0x0800_0000];

/** A packet of MySQL. */
function packet(number: number, body: Buffer): Buffer {
  const head = Buffer.alloc(4, number);
  head.writeUIntLE(body.length, 0, 3);
  return Buffer.concat([head, body]);
}

test('neither MySQL 8 nor its clients send the attributes of a statement through the relay', async () => {
  const greeting = Buffer.from(`\x0a8.0.36\0${'x'.repeat(12)}\0${'c'.repeat(31)}`, 'latin1');
  const low = greeting.indexOf('\0c') + 1;
  greeting.writeUInt16LE(EVERYTHING & 0xffff, low);
  greeting.writeUInt16LE(EVERYTHING >>> 16, low + 5);
  const path = join(temporaryFolder('relay', '/tmp'), 'own.sock');
  const arrived: Buffer[] = [];
  const server = createServer((socket) => {
    socket.write(packet(0, greeting));
    socket.on('error', () => {}).on('data', (piece) => arrived.push(piece));
  }).listen(path);
  await once(server, 'listening');
  const relay = await startRelay(
    { url: `mysql://ada@localhost/shop?socket=${path}` } as DatabaseAddress,
    'shop',
  );
  const client = connect(Number(new URL(relay.url).port), '127.0.0.1');
  try {
    const [greeted] = (await once(client, 'data')) as [Buffer];
    assert.is(greeted.readUInt16LE(4 + low + 5) & (ATTRIBUTES >>> 16), 0);
    // As libmysqlclient does: it looks at the greeting only when it sends a statement.
    const answer = Buffer.alloc(32);
    answer.writeUInt32LE(EVERYTHING, 0);
    client.write(packet(1, answer));
    await until(() => arrived.length > 0, 'nothing arrives');
    const [told = Buffer.alloc(8)] = arrived;
    assert.is(told.readUInt32LE(4), EVERYTHING - ATTRIBUTES);
  } finally {
    client.destroy();
    relay.close();
    server.close();
  }
});

test.run();
