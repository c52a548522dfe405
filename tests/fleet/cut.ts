/** A way to the broker that can be cut as by a firewall: connections stay open, and what is sent vanishes. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atExit } from '@runner/testing/cleanup';

export interface Way {
  readonly url: string;
  /** From now on bytes vanish, in both directions, also those of new connections. */
  cut(): void;
  /** New connections go through again; those of the time of the cut stay dead. */
  reconnect(): void;
  /** Everything that went through. */
  readonly traffic: Buffer[];
}

export async function openWay(to: string): Promise<Way> {
  const port = Number(new URL(to).port);
  const traffic: Buffer[] = [];
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    client.unref();
    const broker = connect(port, '127.0.0.1');
    broker.unref();
    let isDead = isCut;
    const kill = () => {
      isDead = true;
    };
    cuts.add(kill);
    const pass = (from: Socket, into: Socket) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (isDead) return;
        traffic.push(bytes);
        into.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        cuts.delete(kill);
        if (!isDead) into.destroy();
      });
    };
    pass(client, broker);
    pass(broker, client);
  });
  const cuts = new Set<() => void>();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  atExit(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traffic,
    cut() {
      isCut = true;
      for (const kill of cuts) kill();
    },
    reconnect() {
      isCut = false;
    },
  };
}
