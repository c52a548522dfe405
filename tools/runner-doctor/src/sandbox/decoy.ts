/** The target of the attempts: a fake root and home, and a process instead of the runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { memoryFoldersOf } from '@runner/deploy/sandbox/hidden';

const FILES = [
  ...['mkey', 'config.yml', 'state/escape.json', 'state/other.json', 'locks/registry.lock'],
  ...['logs/deploy-events.jsonl', 'logs/deploys/other/1.log', 'spool/notify/0.telegram.json'],
  ...['escape', 'other'].flatMap((app) =>
    ['repo.git/config', 'home/.npmrc', 'instances/default/shared/.env'].map(
      (file) => `apps/${app}/${file}`,
    ),
  ),
  ...['apps/other/releases/r1/server.js', 'apps/escape/releases/r0/server.js'],
  'apps/escape/instances/default/run/pid.json',
  'apps/escape/instances/default/a/env',
];
const OF_USER = ['.gitconfig', '.npmrc', '.bashrc', '.ssh/authorized_keys'];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Listens on sockets, the first of which is abstract, and on loopback until it is ended; prints the ports. */
const LISTEN = `const [, abstract, ...paths] = process.argv.slice(1);
const listen = (where) => new Promise((done) => {
  const server = require('net').createServer();
  server.on('error', () => done('')).listen(where, () => done(server.address()?.port ?? ''));
});
const all = [{ path: '\\0' + abstract }, ...paths.map((path) => ({ path }))];
const echo = require('dgram').createSocket('udp4');
echo.on('message', (text, { port, address }) => echo.send(text, port, address));
const datagrams = new Promise((done) => echo.bind(0, '127.0.0.1', () => done(echo.address().port)));
const loopback = ['127.0.0.1', '::1'].map((host) => ({ host, port: 0 }));
Promise.all([...[...all, ...loopback].map(listen), datagrams]).then((ports) => console.log(ports.slice(-3).join()));`;

export type Decoy = Awaited<ReturnType<typeof makeDecoy>>;

export async function makeDecoy(env: Env) {
  const { PATH = '' } = env;
  // Not in TMPDIR: the path of a socket has at most 107 bytes.
  const top = mkdtempSync('/tmp/runner-decoy-');
  const [root, home] = [join(top, 'root'), join(top, 'home')];
  for (const file of FILES) write(join(root, file), 'decoy\n');
  for (const file of OF_USER) write(join(home, file), 'real\n');
  mkdirSync(join(home, '.pm2'));
  const open = join(top, 'open');
  writeFileSync(open, 'canary\n');
  const paths = pathsOf(root);
  const { releases, instance } = paths.app('escape');
  const agentFolder = mkdtempSync('/tmp/ssh-');
  const agent = join(agentFolder, 'agent');
  const sockets = [join(home, '.pm2/rpc.sock'), agent];
  const abstract = `runner-decoy-${process.pid}`;
  const runner = spawn(process.execPath, ['-e', LISTEN, 'CANARY', abstract, ...sockets], {
    env: { PATH, CANARY: 'canary' },
    stdio: [openSync(open, 'r'), 'pipe', 'ignore'],
  });
  const [printed] = await once(runner.stdout as Readable, 'data');
  const [port = '', port6 = '', portUdp = ''] = String(printed).trim().split(',');
  const memory = memoryOf(root, env);
  return {
    paths,
    /** Home of the user that runs the runner. */
    home,
    runner,
    /** A socket like that of an ssh agent. */
    agent,
    /** Name of an abstract socket. */
    abstract,
    /** Ports of loopback at which it listens: the second of IPv6, empty without it; the third for datagrams. */
    ports: [port, port6, portUdp] as const,
    memory,
    release: join(releases, '.tmp-escape'),
    shared: instance('default').shared,
    slot: join(instance('default').dir, 'a'),
    /** Creates a folder for one attempt. */
    folder(name: string) {
      const folder = join(releases, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    remove() {
      runner.kill('SIGKILL');
      for (const each of [top, agentFolder, ...(memory ? [dirname(memory)] : [])])
        rmSync(each, { recursive: true, force: true });
    },
  };
}

/** Where the app's secrets would be in memory, with a file; empty where there is no such folder. */
function memoryOf(root: string, env: Env): string {
  for (const folder of memoryFoldersOf(root, env)) {
    if (!existsSync(dirname(folder))) continue;
    const made = orElse(() => {
      write(join(folder, 'escape/default.env'), 'decoy\n');
      return join(folder, 'escape');
    }, '');
    if (made !== '') return made;
  }
  return '';
}
