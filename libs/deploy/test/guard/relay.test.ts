/** Plain HTTP to a listed host that answers as no good server does. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openHttpRelay } from '../../src/guard/relay.ts';

const test = suite('plain HTTP through the guard');

const HOST = 'plain.example.org';

const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
  '/good': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  '/status': (socket) => socket.end('HTTP/1.1 042 No\r\nContent-Length: 2\r\n\r\nok'),
  '/cut': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok'),
  '/chunks': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'),
  '/upgrade': (socket) =>
    socket.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  '/nothing': (socket) => socket.destroy(),
};

const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function listening(onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onSocket);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

test('what is cut off, switches protocols or has no status of HTTP ends at once, and nothing else does', async () => {
  const far = await listening((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => ANSWERS[String(bytes).split(' ')[1] ?? '']?.(socket));
  });
  const relay = openHttpRelay({
    hostOf: () => HOST,
    refuse: ({ socket }) => void socket.destroy(),
    reach: async () => {
      const socket = connect(portOf(far), '127.0.0.1');
      await new Promise((done) => socket.once('connect', done));
      return socket;
    },
    take: () => {},
  });
  const near = await listening((socket) =>
    relay.emit(
      'connection',
      socket.on('error', () => {}),
    ),
  );
  const ask = (path: string) =>
    new Promise<string>((done) => {
      let text = '';
      const socket = connect(portOf(near), '127.0.0.1');
      const late = setTimeout(() => done('hangs'), 3_000);
      socket.on('data', (bytes) => (text += bytes));
      socket.on('error', () => {});
      socket.once('close', () => {
        clearTimeout(late);
        done(text.slice(text.indexOf('\r\n\r\n') + 4));
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
    });
  const got: Record<string, string> = {};
  for (const path of Object.keys(ANSWERS)) got[path] = await ask(path);
  near.close();
  far.close();
  const { '/chunks': chunks, ...rest } = got;
  assert.match(chunks ?? '', /^2\r\nok/);
  assert.equal(rest, {
    '/good': 'ok',
    '/status': '',
    '/cut': 'ok',
    '/upgrade': '',
    '/nothing': '',
  });
});

test.run();
