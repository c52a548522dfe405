/**
 * Which tables a migration writes to in MySQL, whose triggers do not see a statement without rows: a relay
 * between the migration and the server reads the statements, whose bytes stay as they are.
 */
import { once } from 'node:events';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { O_PATH } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { databaseFolders, hiddenFolders, isWithin } from '../sandbox/hidden.ts';
import { type DatabaseAddress, serverOf } from './address.ts';

const [USE, QUERY, PREPARE] = [0x02, 0x03, 0x16];
/** Capabilities that hide statements, low and high half: compression, TLS; zstd, attributes of statements. */
const HIDING = [0x0820, 0x0c00] as const;
const ATTRIBUTES = 0x0800;

/** Finds `name.table` and `use name`: a copy with such a statement would change the database itself. */
export function namesDatabase(name: string): RegExp {
  const own = name.replace(/[^\w]/g, '\\$&');
  return new RegExp(
    `(?:\`${own}\`|(?<![\\w\`.])${own})\\s*\\.\\s*[\\w\`]|\\b(?:use|database|schema)\\s+\`?${own}(?![\\w$])`,
    'i',
  );
}

/** Takes the capabilities that hide statements from the greeting of a server, in place. */
function plainGreeting(chunk: Buffer): void {
  const low = chunk.indexOf(0, 5) + 1 + 4 + 8 + 1;
  if (chunk[4] !== 10 || chunk.length < low + 7) return;
  chunk.writeUInt16LE(chunk.readUInt16LE(low) & ~HIDING[0], low);
  chunk.writeUInt16LE(chunk.readUInt16LE(low + 5) & ~HIDING[1], low + 5);
}

/** From the answer of a client, in place, what it takes for granted whatever the greeting says: attributes. */
function plainAnswer(chunk: Buffer): void {
  if (chunk.length >= 8) chunk.writeUInt16LE(chunk.readUInt16LE(6) & ~ATTRIBUTES, 6);
}

/** Reads the packets of a client; one with the number 0 is a command. */
function commandReader(take: (statement: string) => void) {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const end = 4 + rest.readUIntLE(0, 3);
      if (rest.length < end) return;
      const kind = rest[4];
      const text = rest.toString('utf8', 5, end);
      if (rest[3] === 0 && kind === USE) take(`USE ${text}`);
      if (rest[3] === 0 && (kind === QUERY || kind === PREPARE)) take(text);
      rest = rest.subarray(end);
    }
  };
}

/**
 * Connects to a socket, but not to one that the sandbox of the migration hides: the migration may lead the name
 * of the socket there meanwhile. Throws what the system says.
 */
function connectTo(path: string): Socket {
  const fd = openSync(path, O_PATH);
  try {
    const real = readlinkSync(`/proc/self/fd/${fd}`);
    const isIn = (folders: readonly string[]) => folders.some((each) => isWithin(each, real));
    if (isIn(hiddenFolders({})) && !isIn(databaseFolders())) throw new Error(`${real} is hidden`);
    return connect({ path: `/proc/self/fd/${fd}` });
  } finally {
    closeSync(fd);
  }
}

/** Listens on a free port of 127.0.0.1. `production`: the database that no statement may name. */
export async function startRelay(address: DatabaseAddress, production: string) {
  const { host, port } = serverOf(address.url, 'mysql');
  const statements: string[] = [];
  const open = new Set<Socket>();
  const forbidden = namesDatabase(production);
  let isStopped = false;
  let wasReached = false;
  const server = createServer((client) => {
    wasReached = true;
    const target = host.startsWith('/')
      ? orElse(() => connectTo(host), undefined)
      : connect({ host, port: Number(port) });
    if (!target) return void client.destroy();
    const read = commandReader((statement) => {
      statements.push(statement);
      if (!forbidden.test(statement)) return;
      // Its last part has not been sent: the server does not run it.
      isStopped = true;
      client.destroy();
      target.destroy();
    });
    client.once('data', plainAnswer);
    client.on('data', (chunk: Buffer) => read(chunk));
    target.once('data', plainGreeting);
    client.pipe(target).pipe(client);
    for (const [socket, other] of [[client, target] as const, [target, client] as const]) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = address.url
    .replace(/^([^:]+:\/\/(?:[^/?#]*@)?)[^/?#@]*/, `$1${place}`)
    .replace(/([?&])(?:socket|unix_socket|socketPath|host|port)=[^&]*&?/g, '$1');
  return {
    url,
    /** Those that arrived so far. */
    statements,
    /** Whether one was stopped because it names the database in production. */
    isStopped: () => isStopped,
    wasReached: () => wasReached,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
