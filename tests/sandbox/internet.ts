/** A small internet in this process, and commands of a sandbox that may reach some of it. */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { NetworkHost, NetworkRefusal } from '@runner/common/audit/network';
import { hostRule } from '@runner/common/config/network';
import { pathsOf } from '@runner/common/foundation/paths';
import { HostGuard } from '@runner/deploy/guard/guard';
import { NetworkNotes } from '@runner/deploy/guard/notes';
import { runChild } from '@runner/deploy/run/child';
import { openSandbox } from '@runner/deploy/sandbox/sandbox';
import { certificates } from '@runner/testing/certificates';
import { cleanEnvironment } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

// The modules themselves: runner's own calls have to go through what is put in their place.
const net: typeof import('node:net') = require('node:net');
const dns: typeof import('node:dns') = require('node:dns');
const tls: typeof import('node:tls') = require('node:tls');
const dgram: typeof import('node:dgram') = require('node:dgram');

/** The address of every host that has a public one. */
export const PUBLIC = '198.51.100.9';

export interface Internet {
  /** Everything that arrived outside of the sandbox: bytes, names that were looked up, addresses. */
  seen(): string;
  /** Variables with which commands find what listens on this machine. */
  readonly env: Record<string, string>;
  close(): void;
}

/** Hosts by name: their addresses, one list for each lookup, the last of which stays. */
export type Hosts = Readonly<Record<string, readonly (readonly string[])[]>>;

export async function openInternet(hosts: Hosts): Promise<Internet> {
  const parts: string[] = [];
  const take = (chunk: Buffer | string) => void parts.push(chunk.toString('latin1'));
  const plain = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      take(chunk);
      const text = chunk.toString('latin1');
      if (text.includes('/redirect'))
        socket.write(
          'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/C\r\nContent-Length: 0\r\n\r\n',
        );
      else if (/ HTTP\/1/.test(text))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  });
  const { cert, key } = certificates('good.example.org');
  const options = { cert: readFileSync(cert), key: readFileSync(key) };
  const secure = tls.createServer(options, (socket) => {
    socket.on('error', () => {});
    socket.on('data', take);
  });
  secure.on('connection', (socket) => socket.on('data', take).on('error', () => {}));
  secure.on('tlsClientError', () => {});
  const six = net.createServer((socket) => void socket.on('data', take));
  const abstract = net.createServer((socket) => void socket.on('data', take));
  const folder = temporaryFolder('sockets', '/tmp');
  const paths = { abstract: `\0runner-test-${process.pid}`, path: join(folder, 'socket') };
  const byPath = net.createServer((socket) => void socket.on('data', take));
  const datagrams = dgram.createSocket('udp4').on('message', take);
  const listening = (server: import('node:net').Server, where: object) =>
    new Promise<void>((resolve) => server.listen(where, resolve));
  await listening(plain, { host: '127.0.0.1', port: 0 });
  await listening(secure, { host: '127.0.0.1', port: 0 });
  await listening(six, { host: '::1', port: 0 }).catch(() => {});
  await listening(abstract, { path: paths.abstract });
  await listening(byPath, { path: paths.path });
  await new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve));
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const { connect } = net;
  const { lookup } = dns.promises;
  const looked = new Map<string, number>();
  Object.assign(dns.promises, {
    async lookup(host: string) {
      parts.push(`lookup ${host}`);
      const lists = hosts[host];
      const time = looked.get(host) ?? 0;
      looked.set(host, time + 1);
      const list = lists?.[Math.min(time, lists.length - 1)];
      if (!list) throw new Error('no such host');
      return list.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }));
    },
  });
  Object.assign(net, {
    connect(to: import('node:net').TcpNetConnectOpts, ...rest: []) {
      parts.push(`dial ${to.host} ${to.port}`);
      const port = portOf(to.port === 443 ? secure : plain);
      return connect(to.host === PUBLIC ? { ...to, host: '127.0.0.1', port } : to, ...rest);
    },
  });
  return {
    seen: () => parts.join('\n'),
    env: {
      OUTER_TCP: String(portOf(plain)),
      OUTER_TCP6: String(portOf(six)),
      OUTER_UDP: String(portOf(datagrams)),
      OUTER_ABSTRACT: paths.abstract.slice(1),
      OUTER_PATH: paths.path,
    },
    close() {
      Object.assign(net, { connect });
      Object.assign(dns.promises, { lookup });
      for (const each of [plain, secure, six, abstract, byPath, datagrams]) each.close();
    },
  };
}

export interface GuardedRun {
  readonly status: number | null;
  readonly output: string;
  readonly hosts: readonly NetworkHost[];
  readonly refusals: readonly NetworkRefusal[];
}

/** Runs a shell command as a build with these hosts and files; `bwrap` is a folder with another bubblewrap. */
export async function runGuarded(
  list: readonly string[],
  script: string,
  {
    files = {},
    env = {},
    bwrap = '',
  }: {
    files?: Record<string, string | Buffer>;
    env?: Record<string, string>;
    bwrap?: string;
  } = {},
): Promise<GuardedRun> {
  const root = join(temporaryFolder('root'), 'root');
  const paths = pathsOf(root);
  const { releases, home, instance } = paths.app('shop');
  const release = join(releases, '.tmp-build');
  for (const folder of [release, home]) mkdirSync(folder, { recursive: true });
  writeFileSync(paths.config, 'sandbox: required\n', { mode: 0o600 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(release, name), text);
  const clean = cleanEnvironment();
  const outer = { ...clean, PATH: `${bwrap && `${bwrap}:`}${clean.PATH}` };
  const sandbox = openSandbox({ paths, env: outer, app: 'shop' });
  const notes = new NetworkNotes();
  const network = new HostGuard({ rules: list.map(hostRule), learns: false, notes });
  const { shared } = instance('default');
  const log = join(root, 'output');
  const output = openSync(log, 'w+');
  try {
    const exit = await runChild({
      ...{ file: '/bin/sh', args: ['-c', script], cwd: release, output },
      env: { PATH: clean.PATH ?? '', HOME: home, ...env },
      confinement: sandbox.confine('build', { release, shared, network }),
      timeout: 120_000,
      signal: new AbortController().signal,
      leavesApp: false,
    });
    const text = readFileSync(log, 'utf8');
    // What was sent arrives.
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { status: exit.code, output: text, hosts: notes.hosts, refusals: notes.refusals };
  } finally {
    closeSync(output);
  }
}
