import { refusals, startCodeHost } from '@runner/testing/code-host';
import { run } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { invalid, PRINT } from './asking.ts';
import { configure, TOKEN } from './root.ts';
import { ask, host, refused, root, testSuite } from './test-suite.ts';

const test = testSuite();

test('the request is what the code host asks for', async () => {
  await ask();
  const seen = host.requests.map(({ method, path, authorization }) => [
    method,
    path,
    authorization,
  ]);
  assert.equal(seen, [['GET', '/user', `Bearer ${TOKEN}`]]);
  const headers = host.requests[0]?.headers;
  assert.is(headers?.accept, 'application/vnd.github+json');
  assert.ok(headers?.['user-agent']);
});

test('JSON and YAML have the fields that the documentation promises', async () => {
  const json = await ask(['--json']);
  assert.is(
    json.stdout,
    `${JSON.stringify({
      valid: true,
      app: 'shop',
      fingerprint: PRINT,
      username: 'octo',
      scopes: ['repo', 'read:org'],
    })}\n`,
  );
  const yaml = await ask(['-o', 'yaml']);
  assert.is(
    yaml.stdout,
    `valid: true\napp: shop\nfingerprint: ${PRINT}\nusername: octo\nscopes:\n  - repo\n  - read:org\n`,
  );
  assert.equal([json.status, yaml.status, json.stderr + yaml.stderr], [0, 0, '']);
});

test('a kind of token that announces no scopes has none, and that is said', async () => {
  for (const scopes of [[], null]) {
    host.allow(TOKEN, { login: 'octo', scopes });
    assert.match(
      (await ask()).stdout,
      '  scopes:       none: this kind of token announces no scopes\n',
    );
    assert.equal(JSON.parse((await ask(['--json'])).stdout).scopes, []);
  }
});

test('nothing is written', async () => {
  const before = tree(root, { modes: true });
  await ask();
  host.revoke(TOKEN);
  await ask();
  const after = tree(root, { modes: true });
  assert.equal(after, before);
});

test('a token that single sign-on or a suspension keeps out is invalid too', async () => {
  const why = `the code host refused the token ${PRINT} of 'shop'`;
  await refused(
    refusals.singleSignOn,
    'token_invalid',
    `${why} (403: Resource protected by organization SAML enforcement.)`,
    invalid(403),
  );
  await refused(
    refusals.suspended,
    'token_invalid',
    `${why} (403: Sorry. Your account was suspended.)`,
    invalid(403),
  );
  await refused({ status: 401, body: '' }, 'token_invalid', `${why} (401)`, invalid(401));
});

test('a code host below a path is asked there', async () => {
  const enterprise = await startCodeHost({
    prefix: '/api/v3',
    tokens: { [TOKEN]: { login: 'octo', scopes: null } },
  });
  for (const address of [enterprise.apiUrl, `${enterprise.apiUrl}/`]) {
    configure(root, `code_host_api_url: ${address}\n`);
    assert.is((await ask()).status, 0);
  }
  assert.equal(
    enterprise.requests.map(({ path }) => path),
    ['/api/v3/user', '/api/v3/user'],
  );
  await enterprise.close();
});

test('RUNNER_CODE_HOST_API_URL outranks the configuration', async () => {
  configure(root, 'code_host_api_url: https://nobody.invalid\n');
  const { status } = await ask([], { env: { RUNNER_CODE_HOST_API_URL: host.apiUrl } });
  assert.is(status, 0);
});

const DAY = 86_400_000;

const inDays = (days: number) => new Date(Date.now() + days * DAY + 3_600_000);

const utc = (date: Date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

test('the expiry of a token is shown when the host announces it, in either form', async () => {
  for (const expires of ['2131-10-07 19:07:53 UTC', '2131-10-07 21:07:53 +0200']) {
    host.allow(TOKEN, { login: 'octo', scopes: [], expires });
    const { stdout, stderr } = await ask();
    assert.match(stdout, /\n {2}expires: {6}2131-10-07T19:07:53\.000Z\n$/);
    assert.is(stderr, '');
    assert.is(JSON.parse((await ask(['--json'])).stdout).expires_at, '2131-10-07T19:07:53.000Z');
  }
  host.allow(TOKEN, { login: 'octo', scopes: [], expires: 'next year' });
  assert.not('expires_at' in JSON.parse((await ask(['--json'])).stdout));
});

test('an end within two weeks is warned of, and changes nothing else', async () => {
  for (const [days, warned] of [
    [20, false],
    [14, false],
    [13, true],
    [0, true],
    [-3, true],
  ] as const) {
    host.allow(TOKEN, { login: 'octo', scopes: [], expires: utc(inDays(days)) });
    const { status, stdout, stderr } = await ask();
    assert.match(stdout, /^Token VALID for shop:/);
    assert.is(status, 0);
    const when = days < 0 ? 'expired at [-0-9T:]+\\.000Z' : `expires in ${days} day\\(s\\)`;
    const warning = `^runner tokens test: warning: the token of shop ${when}: create a new one and run runner edit shop --token -\n$`;
    assert.match(stderr, new RegExp(warned ? warning : '^$'), String(days));
  }
});

test('an app without a token or an unknown app is reported before the host is asked', async () => {
  for (const [app, code, sentence] of [
    ['pub', 'no_token_configured', "the app 'pub' has no token"],
    ['nope', 'app_not_found', "no app called 'nope' is registered on this server"],
    ['../shop', 'app_not_found', "no app called '../shop' is registered on this server"],
  ] as const) {
    const { status, stdout, stderr } = await run('runner-tokens', ['test', app, '--json'], {
      root,
    });
    const { error, message } = JSON.parse(stdout);
    assert.equal([status, error, message.split(';')[0]], [1, code, sentence]);
    assert.is(stderr, `runner tokens test: ${message} (${code})\n`);
  }
  assert.is(host.requests.length, 0);
});

test('an address that is not safe for a token, or a wrong configuration, is reported by line and key', async () => {
  const file = `${root}/config.yml`;
  for (const [text, code, message] of [
    [
      'code_host_api_url: http://example.org',
      'insecure_address',
      `${file}:1: code_host_api_url must be https: a secret is sent there (http is only allowed for localhost)`,
    ],
    [
      'code_host_api_url: nonsense',
      'insecure_address',
      `${file}:1: code_host_api_url is not an https address`,
    ],
    [
      `code_host_api_url: http://user:secret@127.0.0.1/`,
      'insecure_address',
      `${file}:1: code_host_api_url must not contain a user name or password`,
    ],
    [
      '\ncode_host_api_url: [1]',
      'config_invalid',
      `${file}:2: code_host_api_url: must be a single value, not a list`,
    ],
  ] as const) {
    configure(root, `${text}\n`);
    const { status, stderr } = await ask();
    assert.equal([status, stderr], [1, `runner tokens test: ${message} (${code})\n`]);
  }
  assert.is(host.requests.length, 0);
});

test.run();
