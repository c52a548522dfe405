import { createServer, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { HELLO_MAX, serverName } from '@runner/deploy/guard/hello';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** The first bytes that a client of TLS sends for a name. */
function helloFor(servername: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket: Socket) =>
      socket.once('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      }),
    );
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      connect({ port, host: '127.0.0.1', servername }).on('error', () => {});
    });
  });
}

/** The handshake of a hello, in records of these sizes. */
function inRecords(hello: Buffer, sizes: readonly number[]): Buffer {
  const message = hello.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0, round = 0; at < message.length; round += 1) {
    const part = message.subarray(at, at + (sizes[round % sizes.length] as number));
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
    at += part.length;
  }
  return Buffer.concat(parts);
}

test('the name of a client is read, in lower case', async () => {
  assert.is(serverName(await helloFor('Registry.Example.org')), 'registry.example.org');
  assert.is(serverName(await helloFor('')), '');
});

test('a hello may be cut anywhere, and split over records: more is needed until it is whole', async () => {
  const hello = await helloFor('a.example.org');
  fc.assert(
    fc.property(
      fc.nat(hello.length - 1),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 9 }),
      (cut, sizes) => {
        assert.is(serverName(hello.subarray(0, cut)), undefined);
        const split = inRecords(hello, sizes);
        assert.is(serverName(split), 'a.example.org');
        assert.is(serverName(split.subarray(0, split.length - 1)), undefined);
        assert.is(serverName(Buffer.concat([split, Buffer.from('more')])) ?? null, null);
      },
    ),
  );
});

test('any bytes, and any change of a hello, give a name, null or undefined', async () => {
  const hello = await helloFor('a.example.org');
  const judge = (bytes: Uint8Array) => {
    const name = serverName(Buffer.from(bytes));
    assert.ok(name === null || name === undefined || typeof name === 'string');
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), judge));
  const body = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => [22, 3, 1, 1, 44, 1, 0, 0, 200, ...bytes]);
  fc.assert(fc.property(body, (bytes) => judge(Uint8Array.from(bytes))));
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(hello);
      changed[at] = byte;
      judge(changed);
    }),
  );
  assert.is(
    serverName(
      Buffer.concat([Buffer.from([22, 3, 1, 64, 0, 1, 255, 255, 255]), Buffer.alloc(HELLO_MAX)]),
    ),
    null,
  );
});

test.run();
