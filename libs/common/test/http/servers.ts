/** Small servers on loopback for the tests of http.ts. */
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';

const open = new Set<Socket>();
const listening = new Set<TcpServer>();

async function listen(server: TcpServer): Promise<number> {
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  listening.add(server);
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP server; resolves its address without a slash at the end. */
export async function startHttp(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`;
}

/** Starts a server that speaks whatever `talk` says; resolves its port. */
export async function startTcp(talk: (socket: Socket) => void): Promise<number> {
  return listen(createTcpServer(talk));
}

/** Starts a given server, e.g. one with TLS; resolves its port. */
export async function startServer(server: TcpServer): Promise<number> {
  return listen(server);
}

/**
 * Starts a proxy that notes in `seen` what it is asked for: `CONNECT host:port` or `GET http://…`.
 * It hands everything on.
 */
export async function startProxy(seen: string[]): Promise<string> {
  const server: Server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('from the proxy');
  });
  server.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    const [host = '', port] = (request.url ?? '').split(':');
    const other = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      other.pipe(socket).pipe(other);
    });
    other.on('error', () => socket.destroy());
    socket.on('error', () => other.destroy());
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Ends all servers and their connections. */
export function stopServers(): void {
  for (const server of listening) server.close();
  for (const socket of open) socket.destroy();
  listening.clear();
}
