import * as assert from 'uvu/assert';
import { invalid, PRINT } from './asking.ts';
import { changeSealed, configure, rootWith, TOKEN } from './root.ts';
import { ask, host, refused, testSuite } from './test-suite.ts';

const test = testSuite();

test('a valid token is shown with its fingerprint, account and scopes', async () => {
  const { status, stdout, stderr } = await ask();
  assert.is(
    stdout,
    `Token VALID for shop:\n  fingerprint:  ${PRINT}\n  username:     octo\n  scopes:       repo, read:org\n`,
  );
  assert.equal([status, stderr], [0, '']);
});

test('a revoked token is invalid: status 1, and JSON says so', async () => {
  host.revoke(TOKEN);
  const { status, stdout, stderr } = await ask(['--json']);
  const message = `the code host refused the token ${PRINT} of 'shop' (401: Bad credentials)`;
  assert.equal(JSON.parse(stdout), { ...invalid(401), error: 'token_invalid', message });
  assert.equal([status, stderr], [1, `runner tokens test: ${message} (token_invalid)\n`]);
  const yaml = await ask(['-o', 'yaml']);
  assert.is(
    yaml.stdout,
    `valid: false\napp: shop\nfingerprint: ${PRINT}\nhttp_status: 401\nerror: token_invalid\nmessage: "${message}"\n`,
  );
});

test('a stored token that cannot be opened is never sent', async () => {
  const spoiled = await rootWith({ shop: TOKEN });
  configure(spoiled, `code_host_api_url: ${host.apiUrl}\n`);
  changeSealed(spoiled, 'shop', (value) => `${value.slice(0, -4)}AAAA`);
  const { status, stderr } = await ask([], { root: spoiled });
  assert.is(stderr, "runner tokens test: the stored token of 'shop' is damaged (token_corrupt)\n");
  assert.is(status, 1);
  assert.is(host.requests.length, 0);
});

test('what a host says cannot drive the terminal, nor repeat the token', async () => {
  host.allow(TOKEN, { login: `oc\u001b[31mto\n\u202e${TOKEN}`, scopes: ['repo', TOKEN, 'a b'] });
  const { stdout } = await ask();
  assert.is(
    stdout,
    `Token VALID for shop:\n  fingerprint:  ${PRINT}\n  username:     oc\\x1b[31mto\\n\\u202e[REDACTED]\n  scopes:       repo\n`,
  );
  const json = await ask(['--json']);
  assert.not.match(json.stdout, /[\u001b\u202e]/);
  assert.is(JSON.parse(json.stdout).username, 'oc\u001b[31mto\n\u202e[REDACTED]');
  await refused(
    { status: 401, body: { message: `Bad token ${TOKEN}` } },
    'token_invalid',
    `the code host refused the token ${PRINT} of 'shop' (401: Bad token [REDACTED])`,
    invalid(401),
  );
  const base64 = Buffer.from(TOKEN).toString('base64');
  host.fail({ status: 500, body: { message: `${base64} ${'x'.repeat(5000)}` } });
  const { stderr } = await ask();
  assert.ok(stderr.length < 400);
});

test.run();
