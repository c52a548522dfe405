import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { contentOf, rootWith } from './rekey-root.ts';
import { fingerprint } from './root.ts';
import { askAll, configure, FINE, GONE, GOOD, testAllSuite, verdictsIn } from './test-all.ts';

const test = testAllSuite('tokens test --all');

const INVALID = `the code host refused the token ${fingerprint(GONE)} of 'old' (401: Bad credentials)`;

test('JSON and YAML have a verdict for every token, in the order of tokens list', async ({
  root,
}) => {
  const json = await askAll(root, ['--json']);
  const list = await run('runner-tokens', ['list', '--json'], { root });
  const { count, tokens } = JSON.parse(json.stdout);
  assert.equal([json.status, json.stderr, count], [1, '', 3]);
  const order = (text: string) =>
    JSON.parse(text).tokens.map((each: { fingerprint: string; apps: string[] }) => [
      each.fingerprint,
      each.apps,
    ]);
  assert.equal(order(json.stdout), order(list.stdout));
  const nothing = { username: null, scopes: [], expires_at: null, http_status: null };
  const well = { ...nothing, error: null, message: null, valid: true };
  const expected = [
    {
      ...well,
      fingerprint: fingerprint(GOOD),
      apps: ['api', 'shop', 'web'],
      username: 'octo',
      scopes: ['repo', 'read:org'],
    },
    {
      ...well,
      fingerprint: fingerprint(FINE),
      apps: ['blog'],
      username: 'robot',
      expires_at: '2099-10-07T19:07:53.000Z',
    },
    {
      ...nothing,
      fingerprint: fingerprint(GONE),
      apps: ['old'],
      valid: false,
      http_status: 401,
      error: 'token_invalid',
      message: INVALID,
    },
  ].sort((a, b) => b.apps.length - a.apps.length || (a.fingerprint < b.fingerprint ? -1 : 1));
  assert.equal(tokens, expected);
  const yaml = await askAll(root, ['-o', 'yaml']);
  assert.is(yaml.status, 1);
  const first = `count: 3\ntokens:\n  - fingerprint: ${fingerprint(GOOD)}\n    apps:\n      - api\n`;
  assert.ok(yaml.stdout.startsWith(first), yaml.stdout);
});

test('for people it is a table', async ({ root }) => {
  const { stdout, stderr } = await askAll(root);
  const lines = stdout.split('\n');
  assert.is(stderr, '');
  const cells = (line = '') => line.trim().split(/ {2,}/);
  assert.equal(cells(lines[0]), ['TOKEN', 'STATE', 'USER', 'EXPIRES', 'APPS', 'PROBLEM']);
  assert.equal(
    lines.slice(1, 4).map(cells).sort(),
    [
      [fingerprint(FINE), 'valid', 'robot', '2099-10-07', 'blog'],
      [fingerprint(GONE), 'INVALID', '-', '-', 'old', 'token_invalid'],
      [fingerprint(GOOD), 'valid', 'octo', '-', 'api, shop, web'],
    ].sort(),
  );
  assert.is(lines.length, 5);
});

test('apps that cannot be opened are reported on stderr and make the status 1', async ({
  host,
  root,
}) => {
  host.allow(GONE, { login: 'back', scopes: [] });
  writeFileSync(join(root, 'state/bad.json'), '{');
  const ended = await askAll(root, ['--json']);
  assert.equal(
    [ended.status, ended.stderr],
    [
      1,
      `runner tokens test: bad: the state file ${root}/state/bad.json is not JSON (state_malformed)\n`,
    ],
  );
  assert.equal(
    Object.values(verdictsIn(ended)).map(({ valid }) => valid),
    [true, true, true],
  );
});

test('an end within two weeks is warned of with every app that it concerns', async ({
  host,
  root,
}) => {
  const end = new Date(Date.now() + 3.5 * 86_400_000).toISOString();
  const expires = `${end.slice(0, 10)} ${end.slice(11, 19)} UTC`;
  host.allow(GOOD, { login: 'octo', scopes: [], expires });
  host.allow(GONE, { login: 'back', scopes: [] });
  const { status, stderr } = await askAll(root);
  assert.equal(
    [status, stderr],
    [
      0,
      'runner tokens test: warning: the token of api, shop, web expires in 3 day(s): create a new one and run runner edit api --token -, then runner edit <APP> --token-from api\n',
    ],
  );
});

test('no more than four are asked about at once, and not one after the other', async () => {
  let now = 0;
  let most = 0;
  let together = false;
  const waiting: ServerResponse[] = [];
  const answer = () => {
    for (const response of waiting.splice(0)) {
      now -= 1;
      response.end('{"login":"octo"}');
    }
  };
  const server = createServer((_request, response) => {
    now += 1;
    most = Math.max(most, now);
    waiting.push(response);
    // The first ones are answered when there are four of them, each later one after a while.
    if (now === 4) together = true;
    if (together) setTimeout(answer, 100);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tokens = Object.fromEntries(
    Array.from({ length: 22 }, (_, n) => [`app${n}`, `token-no-${n}`]),
  );
  const root = rootWith(tokens);
  configure(root, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { status, stdout } = await askAll(root, ['--json']);
  assert.equal([status, JSON.parse(stdout).count, most], [0, 22, 4]);
  server.close();
  server.closeAllConnections();
});

test('without any token there is nobody to ask', async ({ host }) => {
  const root = rootWith({ docs: null });
  configure(root, host.apiUrl);
  const { status, stdout } = await askAll(root, ['--json']);
  assert.equal([status, stdout, host.requests.length], [0, '{"count":0,"tokens":[]}\n', 0]);
});

test('--all and an app exclude each other, and one of them is needed', async ({ host, root }) => {
  const both = await askAll(root, ['shop']);
  assert.equal(
    [both.status, both.stdout, both.stderr],
    [2, '', "error: the argument '--all' cannot be used with '[APP]'\n"],
  );
  const none = await run('runner-tokens', ['test'], { root });
  assert.equal(
    [none.status, none.stdout, none.stderr],
    [2, '', 'error: the following required arguments were not provided: <APP|--all>\n'],
  );
  assert.is(host.requests.length, 0);
});

test('nothing but the ends is written, and those once', async ({ root }) => {
  await askAll(root);
  const before = contentOf(root);
  await askAll(root);
  assert.equal(contentOf(root), before);
});

test('--quiet prints problems alone, remembers when tokens end, and records a near end once', async ({
  host,
}) => {
  const ends = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const expires = `${ends.slice(0, 19).replace('T', ' ')} UTC`;
  const near = await startCodeHost({ tokens: { [FINE]: { login: 'robot', scopes: [], expires } } });
  const root = rootWith({ blog: FINE });
  configure(root, near.apiUrl);
  const events = () => readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').trim();
  for (const time of ['first', 'second']) {
    const { status, stdout } = await askAll(root, ['--quiet']);
    assert.equal([status, stdout], [0, ''], time);
  }
  const event = JSON.parse(events()) as Record<string, unknown>;
  assert.equal(
    [event.event_type, event.project, event.deploy_id, event.expires_at],
    ['TokenEnding', 'blog', null, `${ends.slice(0, 19)}.000Z`],
  );
  assert.match(
    String(event.reason),
    /^the token of blog expires in 5 days, at .*: create a new one and run runner edit blog --token -$/,
  );
  await near.close();
  configure(root, host.apiUrl);
  // The same token does not end any more: it is another one.
  assert.is((await askAll(root, ['--quiet'])).status, 0);
  assert.match(events(), /"event_type":"TokenRenewed"[^\n]*$/);
  const alone = await run('runner-tokens', ['test', 'blog', '--quiet'], { root });
  assert.is(alone.status, 2);
});

test('the end of a token that apps share is one record that names them all, and so is its renewal', async ({
  host,
}) => {
  const ends = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const expires = `${ends.slice(0, 19).replace('T', ' ')} UTC`;
  const login = { login: 'robot', scopes: [] };
  const near = await startCodeHost({ tokens: { [FINE]: { ...login, expires } } });
  const root = rootWith({ blog: FINE, docs: FINE, shop: FINE });
  configure(root, near.apiUrl);
  const events = () =>
    readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (let day = 0; day < 2; day += 1) await askAll(root, ['--quiet']);
  // The timer does not announce it once more for each app.
  await run('runner-fetch', [], { root });
  const [first, ...others] = events();
  assert.equal(others, []);
  assert.equal([first?.event_type, first?.projects], ['TokenEnding', ['blog', 'docs', 'shop']]);
  assert.match(
    String(first?.reason),
    /^the token of blog, docs, shop expires in 5 days, at .*: create a new one and run runner edit blog --token -, then runner edit <APP> --token-from blog$/,
  );
  await near.close();
  configure(root, host.apiUrl);
  for (const [app, ...args] of [
    ['blog', '--token', '-'],
    ['docs', '--token-from', 'blog'],
    ['shop', '--token-from', 'blog'],
  ] as const) {
    assert.is(events().length, 1);
    const edited = await run('runner-edit', [app, ...args], { root, stdin: `${FINE}2` });
    assert.is(edited.status, 0, edited.stderr);
    await run('runner-fetch', [], { root });
  }
  const last = events().slice(1);
  assert.equal(
    last.map(({ event_type, projects, reason }) => [event_type, projects, reason]),
    [['TokenRenewed', ['blog', 'docs', 'shop'], 'the token of blog, docs, shop was replaced']],
  );
});

test.run();
