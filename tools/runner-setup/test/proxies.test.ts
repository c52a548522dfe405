/** The sites that setup writes, as nginx, Caddy and HAProxy themselves read them. */
import { existsSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { standWith } from './proxies.ts';

test('a site that nginx itself refuses is put back, and the cause is named', async () => {
  const stand = standWith('nginx');
  if (!stand) return;
  const args = ['--run', 'node server.js', '--yes', '--cert', '/dev/null', '--key', '/dev/null'];
  const { status, stderr } = await stand.setup(...args);
  assert.is(status, 1);
  assert.match(
    stderr,
    /`nginx -t .*` failed: .*\[emerg\] .*cannot load certificate.*; the files are as they were before \(setup_failed\)\n$/,
  );
  assert.not.ok(existsSync(stand.path('etc/nginx/conf.d/runner-shop.conf')));
});

test.run();
