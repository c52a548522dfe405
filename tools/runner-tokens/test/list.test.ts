import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LINE, list, SECOND } from './list.ts';
import { fingerprint, rootWith, TOKEN } from './root.ts';

test('each distinct token is a line of fingerprint, count and apps, under a heading', async () => {
  const root = await rootWith({ shop: TOKEN, blog: SECOND, api: TOKEN, web: TOKEN });
  const { status, stdout, stderr } = await list(root);
  assert.is(
    stdout,
    `Tokens (2):\n${LINE}\n${fingerprint(TOKEN)} | 3 app(s) | api, shop, web\n${fingerprint(SECOND)} | 1 app(s) | blog\n`,
  );
  assert.equal([status, stderr], [0, '']);
});

test('JSON and YAML hold the same groups', async () => {
  const root = await rootWith({ shop: TOKEN, blog: SECOND, api: TOKEN });
  const json = await list(root, '--json');
  assert.is(
    json.stdout,
    `${JSON.stringify({
      count: 2,
      tokens: [
        { fingerprint: fingerprint(TOKEN), apps_count: 2, apps: ['api', 'shop'] },
        { fingerprint: fingerprint(SECOND), apps_count: 1, apps: ['blog'] },
      ],
    })}\n`,
  );
  const yaml = await list(root, '-o', 'yaml');
  assert.is(
    yaml.stdout,
    `count: 2
tokens:
  - fingerprint: ${fingerprint(TOKEN)}
    apps_count: 2
    apps:
      - api
      - shop
  - fingerprint: ${fingerprint(SECOND)}
    apps_count: 1
    apps:
      - blog
`,
  );
  assert.equal([json.status, json.stderr, yaml.status, yaml.stderr], [0, '', 0, '']);
});

test('apps without a token are named on stderr, and the status is 0', async () => {
  const root = await rootWith({ shop: TOKEN, pub: null, open: null });
  const { status, stdout, stderr } = await list(root);
  assert.is(stdout, `Tokens (1):\n${LINE}\n${fingerprint(TOKEN)} | 1 app(s) | shop\n`);
  assert.equal([status, stderr], [0, 'runner tokens list: without a token: open, pub\n']);
});

test('a lost, exposed or damaged master key is reported once, and apps without a token are still named', async () => {
  const root = await rootWith({ shop: TOKEN, blog: TOKEN, pub: null });
  const key = join(root, 'mkey');
  const refused = async (code: string, message: string) => {
    const human = await list(root);
    assert.is(
      human.stderr,
      `runner tokens list: without a token: pub\nrunner tokens list: ${message} (${code})\n`,
    );
    assert.equal([human.status, human.stdout], [1, '']);
    const json = await list(root, '--json');
    assert.equal([json.status, JSON.parse(json.stdout)], [1, { error: code, message }]);
  };
  chmodSync(key, 0o644);
  await refused('mkey_exposed', `others may read the master key: run chmod 600 ${shellWord(key)}`);
  chmodSync(key, 0o600);
  writeFileSync(key, '');
  await refused('mkey_malformed', `${key} is empty`);
  rmSync(key);
  await refused('mkey_missing', `there is no master key in ${key}: restore it from your backup`);
});

test.run();
