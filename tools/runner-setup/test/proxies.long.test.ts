/** The sites that setup writes, as nginx, Caddy and HAProxy themselves read them. */
import { existsSync, lstatSync } from 'node:fs';
import { certificates } from '@runner/testing/certificates';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PLACES, standWith } from './proxies.ts';
import type { Stand } from './stand.ts';

const PORTS = `instances: { default: { domain: shop.example.org } }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:\${PORT}/" }
traffic: { type: ports, ports: [3001, 3002] }
`;

const TWO = `instances:
  eu: { domain: eu.example.org, env: { PORT: "3000" } }
  us: { domain: us.example.org, env: { PORT: "3001" } }
start: { type: process, run: exec node server.js }
`;

for (const proxy of Object.keys(PLACES)) {
  test(`${proxy} accepts the site with a certificate, with two instances, and --undo leaves nothing`, async () => {
    const stand = standWith(proxy);
    if (!stand) return;
    const before = stand.tree();
    const { cert, key } = certificates('shop.example.org');
    const tls = ['--cert', cert, '--key', key];
    const { status, stderr } = await stand.setup('--run', 'node server.js', '--yes', ...tls);
    assert.equal([status, stderr], [0, '']);
    const unmade = (tree: string) => tree.replace(/^root\/apps.*\n/gm, '');
    assert.is((await stand.setup('--undo', '--yes')).status, 0);
    assert.is(unmade(stand.tree()), unmade(before));
    const two = standWith(proxy, TWO) as Stand;
    assert.is((await two.setup('--yes')).status, 0);
    const files = standWith(proxy, 'instances: { default: { domain: a.example.org } }\n') as Stand;
    const shown = await files.setup('--yes', '--public', '.');
    const isRefused = shown.stdout.includes(
      'note: HAProxy serves no files: the site of a.example.org',
    );
    assert.equal([shown.status, isRefused], [0, proxy === 'haproxy']);
  });
}

test('HAProxy finds the key beside the certificate, without a copy of either', async () => {
  const stand = standWith('haproxy');
  if (!stand) return;
  const { cert, key } = certificates('shop.example.org');
  const args = ['--run', 'node server.js', '--yes', '--cert', cert, '--key', key];
  assert.is((await stand.setup(...args)).status, 0);
  for (const end of ['', '.key'])
    assert.ok(
      lstatSync(stand.path(`etc/haproxy/runner/certs/shop.example.org.pem${end}`)).isSymbolicLink(),
    );
  // Both kinds of addresses, where the kernel has both.
  if (existsSync('/proc/net/if_inet6')) {
    assert.match(stand.read('etc/haproxy/runner/http.cfg'), /^ {2}bind :::80 v4v6$/m);
    assert.match(stand.read('etc/haproxy/runner/https.cfg'), /^ {2}bind :::443 v4v6 ssl crt /m);
  }
  assert.is(stand.read('etc/haproxy/runner/domains.map'), 'shop.example.org runner_shop_default\n');
});

test('with ports nginx follows the flag of the live slot; the others print a note', async () => {
  const stand = standWith('nginx', PORTS);
  if (!stand) return;
  assert.is((await stand.setup('--yes')).status, 0);
  assert.match(
    stand.read('etc/nginx/conf.d/runner-shop.conf'),
    /if \(-e \S+\/live\/3002\) \{ set \$p 3002; \}/,
  );
  const caddy = standWith('caddy', PORTS);
  if (!caddy) return;
  assert.match(
    (await caddy.setup('--yes')).stdout,
    /note: traffic with ports works with nginx only/,
  );
});

test.run();
