/** A host that answers with given bytes, whatever it is asked. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { atExit } from '@runner/testing/cleanup';

/** What a client gets once it has sent a request. */
export type Answer = (socket: Socket) => void;

export interface RawHost {
  readonly port: number;
  /** Everything that was received, as latin1. */
  readonly received: () => string;
  close(): Promise<void>;
}

/** Bytes as they are; then the connection ends. */
export const bytes =
  (text: string): Answer =>
  (socket) =>
    socket.end(Buffer.from(text, 'latin1'));

/** A head, and then the same bytes again and again while they are taken. */
export const endless =
  (head: string, chunk: string, every = 0): Answer =>
  (socket) => {
    socket.write(Buffer.from(head, 'latin1'));
    const more = () => {
      if (!socket.destroyed && socket.writableLength < 1 << 20) socket.write(chunk);
    };
    const timer = setInterval(more, every);
    socket.on('close', () => clearInterval(timer));
  };

/** Listens on a free port of 127.0.0.1, with TLS when a key and a certificate are given. */
export async function startRawHost(
  answer: Answer,
  tls?: { key: string; cert: string },
): Promise<RawHost> {
  const sockets = new Set<Socket>();
  let received = '';
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let answered = false;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (answered || !received.includes('\r\n\r\n')) return;
      answered = true;
      answer(socket);
    });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const forget = atExit(stop);
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    close: () =>
      new Promise((resolve) => {
        forget();
        server.once('close', () => resolve());
        stop();
      }),
  };
}
