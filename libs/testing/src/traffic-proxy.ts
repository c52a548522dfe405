/** A proxy of a few lines that dials the app for each connection, and a load through it. */
import { request as ask, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where requests go: asked for at each of them. */
type Upstream = () => { readonly socketPath: string } | { readonly port: number };

export interface ProxyRoute {
  readonly port: number;
  close(): void;
}

export async function startProxy(upstream: Upstream): Promise<ProxyRoute> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const to = upstream();
    const app = connect('port' in to ? { port: to.port } : { path: to.socketPath });
    for (const [one, other] of [
      [client, app],
      [app, client],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => open.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const each of open) each.destroy();
    },
  };
}

/** What one request got: a status, or 0 if it got no whole answer. */
export interface ProxyResponse {
  readonly status: number;
  readonly version: string;
}

export function request(port: number, path = '/', body?: string): Promise<ProxyResponse> {
  return new Promise((resolve) => {
    const fail = () => resolve({ status: 0, version: '' });
    const sent = ask({ port, path, method: body ? 'POST' : 'GET', agent: false }, (answer) =>
      whole(answer).then(
        () => resolve({ status: answer.statusCode ?? 0, version: String(answer.headers.version) }),
        fail,
      ),
    );
    sent.on('error', fail);
    sent.end(body);
  });
}

function whole(answer: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    answer.resume();
    answer.on('end', resolve);
    answer.on('error', reject);
    answer.on('aborted', () => reject(new Error('cut')));
  });
}

/** Requests of every kind, again and again until it is ended. */
export interface Load {
  /** Waits for the last answers. */
  end(): Promise<{ requests: number; failed: ProxyResponse[]; versions: string[] }>;
}

export function startLoad(port: number): Load {
  let isOver = false;
  const pending: Promise<void>[] = [];
  const failed: ProxyResponse[] = [];
  const versions = new Set<string>();
  const one = async (path: string, body?: string) => {
    const answer = await request(port, path, body);
    if (answer.status === 200) versions.add(answer.version);
    else failed.push(answer);
  };
  const timer = setInterval(() => {
    if (isOver) return;
    pending.push(one('/'), one('/', 'x'.repeat(1024)));
    if (pending.length % 20 === 0) pending.push(one('/slow'));
  }, 20);
  timer.unref();
  return {
    async end() {
      isOver = true;
      clearInterval(timer);
      await Promise.all(pending);
      return { requests: pending.length, failed, versions: [...versions].sort() };
    },
  };
}
