/**
 * A command whose network is a guard outside of the sandbox. A socket belongs to the network namespace in
 * which it was made: before the command a launcher opens the sockets at which programs look for hosts, hands
 * them out, and ends. Nothing of the guard stays inside.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { namespaceOptions } from './probe.ts';

/** Carries the network of commands from outside. */
export interface NetworkGuard {
  /** The ports, apart from that of names, at which it takes connections. */
  readonly ports: readonly number[];
  /** Takes over the sockets of a command that was started with an IPC channel. */
  carry(child: ChildProcess): void;
}

/** The descriptor of its channel to runner: the next after that of the report. */
const CHANNEL = 5;
/** The addresses that the guard gives to names. */
const NAMES = '127.64.0.0/10';
/** The port of the proxy where the launcher may not open the ports of names and hosts. */
export const PROXY_PORT = 3_128;

/** The launcher's: the ports of names and hosts, and all addresses to lead to them. */
const CAPABILITIES = ['CAP_NET_BIND_SERVICE', 'CAP_NET_ADMIN', 'CAP_SETPCAP'];
const NO_CAPABILITIES = [
  ...['setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
  '--no-new-privs',
];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/**
 * Without a network, and with what the launcher needs. The /dev of bubblewrap has terminals, for which it
 * makes a second user namespace: the capabilities would not count for the network.
 */
function namesOptions(): string[] {
  return [
    ...['--unshare-net', ...CAPABILITIES.flatMap((each) => ['--cap-add', each])],
    ...['--tmpfs', '/dev', '--perms', '1777', '--dir', '/dev/shm'],
    ...DEVICES.flatMap((name) => ['--dev-bind-try', `/dev/${name}`, `/dev/${name}`]),
    ...['', '/0', '/1', '/2'].flatMap((fd, at) => [
      ...['--symlink', `/proc/self/fd${fd}`, `/dev/${['fd', 'stdin', 'stdout', 'stderr'][at]}`],
    ]),
  ];
}

const known = new Map<string, boolean>();

/** Whether the launcher may open the ports of names and hosts here; tried once. */
function hasNames(program: string): boolean {
  const tried = () => {
    const mounts = ['--ro-bind', '/', '/', ...namesOptions(), '--proc', '/proc'];
    const args = [
      ...namespaceOptions(),
      '--unshare-pid',
      ...mounts,
      ...NO_CAPABILITIES,
      '/bin/true',
    ];
    return spawnSync(program, args, { env: {}, stdio: 'ignore', timeout: 10_000 }).status === 0;
  };
  const found = known.get(program) ?? tried();
  known.set(program, found);
  return found;
}

/** Options of bubblewrap for the network and the devices of a command. */
export function guardedOptions(program: string): string[] {
  return hasNames(program) ? namesOptions() : ['--unshare-net', '--dev', '/dev'];
}

const RESOLVER = {
  'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:5 attempts:5\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n',
  'nsswitch.conf': 'hosts: files dns\npasswd: files\ngroup: files\n',
};

/** Options that make programs ask the guard for names; `folder` is one for files of ours. */
export function resolverOptions(folder: string): string[] {
  return Object.entries(RESOLVER).flatMap(([name, text]) => {
    writeFileSync(join(folder, name), text);
    const path = join('/etc', name);
    return existsSync(path) ? ['--ro-bind', join(folder, name), realpathSync(path)] : [];
  });
}

/** A command gives up soon after nothing takes its connection. */
export const TRIES = '/proc/sys/net/ipv4/tcp_syn_retries';

/**
 * Opens sockets and sends them; where a tool can, addresses of all kinds lead to them, to be refused. What goes
 * to another port is dropped there, not rejected: so the guard sees it in /proc while it is tried. These
 * rules count once that of the local table has gone behind them.
 */
const LISTEN = `
const { createServer } = require('net');
const { execFileSync } = require('child_process');
const space = require('fs').readlinkSync('/proc/self/ns/net');
const [hasNames, ...ports] = process.argv.slice(1).map(Number);
const give = (port, handle) => new Promise((done, fail) =>
  process.send({ port, space }, handle, {}, (error) => (error ? fail(error) : done())));
const open = (server, port, how) => new Promise((done, fail) => {
  server.once('error', fail);
  how(() => give(port, server).then(done, fail));
});
const dropped = (own, isNamed) => {
  const to = 'dev lo src ' + (isNamed ? '127.0.0.1' : '::1') + ' table 9\\n';
  const ends = [0, ...[...ports].sort((a, b) => a - b), 65535];
  const between = ends.slice(1).map((end, at) => [ends[at] + 1, end - 1]).filter(([a, b]) => a <= b);
  return [
    'rule add pref 10 lookup local\\n',
    ...ports.map((port) => 'rule add pref 1 ipproto tcp sport ' + port + ' lookup local\\n'),
    ...between.map((range) => 'rule add pref 2 ipproto tcp dport ' + range.join('-') + ' lookup 9\\n'),
    'route add throw ' + own + ' table 9\\n',
    isNamed ? 'route add ${NAMES} ' + to : '',
    'route add default ' + to,
    'rule del pref 0\\n',
  ].join('');
};
(async () => {
  for (const version of hasNames ? ['-4', '-6'] : [])
    try {
      execFileSync('ip', [version, 'route', 'add', 'local', 'default', 'dev', 'lo'], { stdio: 'ignore' });
      require('fs').writeFileSync('${TRIES}', '1');
      const input = dropped(version === '-4' ? '127.0.0.0/8' : '::1', version === '-4');
      execFileSync('ip', [version, '-batch', '-'], { input, stdio: ['pipe', 'ignore', 'ignore'] });
    } catch {}
  if (hasNames) {
    const names = require('dgram').createSocket('udp4');
    await open(names, 53, (done) => names.bind(53, done));
  }
  for (const port of ports) {
    const server = createServer();
    await open(server, port, (done) => server.listen({ port, backlog: 511 }, done));
  }
  process.exit(0);
})().catch((error) => { console.error(String(error)); process.exit(1); });
`;

const USUAL_FOLDERS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const LAUNCH = `PATH=${USUAL_FOLDERS}
env -i PATH=$PATH NODE_CHANNEL_FD=${CHANNEL} "$0" -e "$1" $2 || {
  echo 'runner: the network of the sandbox could not be made' >&2; exit 125
}
unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
exec ${CHANNEL}>&-
shift 2
exec "$@"`;

const LATER = 'RUNNER_LATER_';

/** A shell may refuse to set a variable of its own, such as UID, and would end. */
const SET = `for RUNNER_LATER in $0; do
  eval "(export $RUNNER_LATER=) 2>/dev/null && export $RUNNER_LATER=\\"\\$${LATER}$RUNNER_LATER\\"; unset ${LATER}$RUNNER_LATER"
done
exec "$@"`;

/**
 * The words that give a command its variables, and as what they are there before: PATH or LD_PRELOAD could
 * load a program of the commit while the channel to runner is open.
 */
export function afterLaunch(env: Readonly<Record<string, string>>) {
  return {
    words: ['/bin/sh', '-c', SET, Object.keys(env).join(' ')],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [LATER + name, value])),
  };
}

/** The words before a command that open its sockets, and the variables by which programs find them. */
export function launcher(program: string, { ports }: NetworkGuard) {
  const isNamed = hasNames(program);
  const given = isNamed ? ['1', ...ports] : ['0', PROXY_PORT];
  const words = ['/bin/sh', '-c', LAUNCH, process.execPath, LISTEN, given.join(' ')];
  const none = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, '']));
  if (isNamed) return { words: [...words, ...NO_CAPABILITIES], env: none };
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const set = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, proxy]));
  return { words, env: { ...set, no_proxy: '', NO_PROXY: '', NODE_USE_ENV_PROXY: '1' } };
}

/** A proxy of the server's cannot be reached. */
export const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
