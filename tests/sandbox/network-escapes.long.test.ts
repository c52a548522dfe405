/** What a build tries that may reach only some hosts: nothing gets out. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isAvailable } from './available.ts';
import { openInternet, PUBLIC, runGuarded } from './internet.ts';
import {
  canaryOf,
  ESCAPES,
  PRELUDE,
  PRIVATE_ADDRESSES,
  PROXY_ESCAPES,
  PROXY_SCRIPT,
  SCRIPT,
} from './network-escapes.ts';

const escapes = suite('escapes from the network of a build');
const test = isAvailable ? escapes : escapes.skip;

const NAMES = ['good', 'other', 'plain', 'git', 'a.wild', 'wild'].map(
  (name) => `${name}.example.org`,
);
const HOSTS = {
  ...Object.fromEntries(NAMES.map((name) => [name, [[PUBLIC]]])),
  'evil.example.com': [[PUBLIC]],
  'rebind.example.org': [[PUBLIC], ['127.0.0.1']],
  ...Object.fromEntries(
    PRIVATE_ADDRESSES.map((address, at) => [`private${at}.example.org`, [[address]]]),
  ),
};
const LIST = [
  ...['good.example.org', 'other.example.org', 'plain.example.org:80', '*.wild.example.org'],
  ...['git.example.org:22', 'rebind.example.org'],
  ...PRIVATE_ADDRESSES.map((_, at) => `private${at}.example.org`),
];

test(`none of ${ESCAPES.length} escapes gets out, and what is allowed does`, async () => {
  const internet = await openInternet(HOSTS);
  try {
    const files = { 'escapes.js': SCRIPT };
    const done = await runGuarded(LIST, `${PRELUDE} node escapes.js`, { files, env: internet.env });
    assert.is(done.status, 0, done.output);
    const seen = internet.seen();
    const escaped = ESCAPES.filter((_, at) => seen.includes(canaryOf(at)));
    process.stdout.write(`(${ESCAPES.length} escapes, ${escaped.length} got out)\n`);
    assert.equal(
      escaped.map(([name]) => name),
      [],
    );
    for (const [, ...dialled] of seen.matchAll(/^dial (\S+) (\d+)$/gm))
      assert.match(dialled.join(':'), /^198\.51\.100\.9:(?:443|80|22)$/);
    const reached = done.hosts.map(({ host, port }) => `${host}:${port}`).sort();
    for (const host of [
      'good.example.org:443',
      'plain.example.org:80',
      'a.wild.example.org:443',
      'git.example.org:22',
    ])
      assert.ok(reached.includes(host), reached.join());
    assert.match(seen, /GET \/allowed-http/);
    assert.match(seen, /allowed raw/);
    assert.match(seen, /allowed tls/);
    assert.match(seen, /allowed wildcard/);
    for (const why of ['unlisted', 'address', 'private', 'other_name', 'protocol'])
      assert.ok(
        done.refusals.some((each) => each.why === why),
        why,
      );
  } finally {
    internet.close();
  }
});

test(`nor through the proxy, which is there without capabilities: ${PROXY_ESCAPES.length}`, async () => {
  const bwrap = temporaryFolder('path');
  const script =
    '#!/bin/sh\ncase "$*" in *CAP_NET_ADMIN*) exit 1 ;; esac\nexec /usr/bin/bwrap "$@"\n';
  writeFileSync(join(bwrap, 'bwrap'), script, { mode: 0o755 });
  const internet = await openInternet(HOSTS);
  try {
    const files = { 'escapes.js': PROXY_SCRIPT };
    const { env } = internet;
    const done = await runGuarded(LIST, 'node escapes.js', { files, env, bwrap });
    assert.is(done.output, 'http://127.0.0.1:3128\n');
    const seen = internet.seen();
    const escaped = PROXY_ESCAPES.filter((_, at) => seen.includes(canaryOf(at)));
    process.stdout.write(`(${PROXY_ESCAPES.length} escapes, ${escaped.length} got out)\n`);
    assert.equal(
      escaped.map(([name]) => name),
      [],
    );
    assert.match(seen, /GET \/allowed-http/);
    assert.ok(done.hosts.some(({ host, port }) => host === 'good.example.org' && port === 443));
  } finally {
    internet.close();
  }
});

test('the body of a GET over plain HTTP stays a body: a host cannot read it as the next request', async () => {
  const internet = await openInternet(HOSTS);
  try {
    const script = `
      const options = { host: 'plain.example.org', headers: { 'transfer-encoding': 'chunked' } };
      const sent = require('http').request(options, () => process.exit());
      sent.on('error', () => process.exit()).end('GET /next HTTP/1.1\\r\\nHost: evil.example.com\\r\\n\\r\\n');`;
    await runGuarded(['plain.example.org:80'], 'node body.js', { files: { 'body.js': script } });
    assert.match(internet.seen(), /^transfer-encoding: chunked\r$/im);
    assert.match(internet.seen(), /\r\n2e\r\nGET \/next /);
  } finally {
    internet.close();
  }
});

escapes.run();
