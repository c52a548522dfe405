/** `edit --require-checks`: fetch --deploy waits until the host says that a commit's checks passed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHostApi } from '@runner/testing/host-api';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { hostSuite } from './host-suite.ts';
import { TOKEN, type World } from './world.ts';

const test = hostSuite('require checks', 'retry_after: [0s]');

const DEPLOY = 'keep: 2\n';
const fetch = (world: World, ...args: string[]) =>
  run('runner-fetch', ['--deploy', ...args], { root: world.root });
const edit = (world: World, checks: string) =>
  run('runner-edit', ['shop', '--require-checks', checks], { root: world.root });
const run1 = (name: string, conclusion: string | null) => ({
  name,
  status: conclusion === null ? 'in_progress' : 'completed',
  conclusion,
});

test('a commit waits for its checks, in at most two calls, and is deployed when they passed', async ({
  world,
  api,
}) => {
  assert.is((await edit(world, 'all')).status, 0);
  assert.equal([world.state().require_checks, world.state().version], ['all', 2]);
  const commit = await world.push('v1', { deploy: DEPLOY });
  const none = await fetch(world);
  assert.equal(
    [none.status, none.stdout],
    [0, `shop: waiting: ${commit.slice(0, 6)} has no checks yet\n`],
  );
  api.checks.set(commit, [
    run1('build', 'success'),
    run1('test', null),
    { name: 'lint', status: 'success' },
  ]);
  const waits = `shop: waiting: 2 of 3 checks of ${commit.slice(0, 6)}\n`;
  assert.is((await fetch(world)).stdout, waits);
  const before = api.requests.length;
  const again = await fetch(world, '--json');
  assert.is(JSON.parse(again.stdout).result, 'checking');
  assert.equal(
    api.requests.slice(before).map(({ status }) => status),
    [304, 304],
  );
  assert.equal(world.kinds(), []);
  api.checks.set(commit, [run1('build', 'success'), run1('test', 'failure')]);
  const red = await fetch(world);
  assert.equal(
    [red.status, red.stdout],
    [0, `shop: not deployed: test of ${commit.slice(0, 6)} failed\n`],
  );
  assert.match(readFileSync(join(world.root, 'logs/fetch.log'), 'utf8'), /waiting: 2 of 3 checks/);
  api.checks.set(commit, [run1('build', 'success'), run1('test', 'success')]);
  const green = await fetch(world);
  assert.equal([green.status, green.stdout], [0, 'shop: deployed v1\n'], green.stderr);
});

test('on Gitea, whose pages have 50 checks at most, all of them count', async ({ world }) => {
  const api = await startHostApi('gitea');
  api.tokens.set(TOKEN, { login: 'ada', scopes: ['read:repository'] });
  world.git.allow(TOKEN, null);
  const host = `{ type: gitea, api_url: "${api.apiUrl}", git_url: "${world.git.url}" }`;
  writeFileSync(join(world.root, 'config.yml'), `code_hosts: { tea: ${host} }\n`);
  const root = { root: world.root };
  const moved = ['shop', '--repo', 'tea:acme/shop', '--token', '-'];
  assert.is((await run('runner-edit', moved, { ...root, stdin: TOKEN })).status, 0);
  await edit(world, 'all');
  const commit = await world.push('v1', { deploy: DEPLOY });
  const checks = Array.from({ length: 60 }, (_, at) => ({ name: `c${at}`, status: 'success' }));
  const last = { name: 'last', status: 'failure' };
  api.checks.set(commit, [...checks, last]);
  assert.match((await fetch(world)).stdout, /not deployed: last of/);
  api.checks.set(commit, [...checks, { ...last, status: 'success' }]);
  const green = await fetch(world);
  assert.is(green.stdout, 'shop: deployed v1\n', green.stderr);
  await api.close();
});

test('names choose the checks, none lifts the gate, and a person may deploy without it', async ({
  world,
  api,
}) => {
  await edit(world, 'build, test');
  const commit = await world.push('v1', { deploy: DEPLOY });
  api.checks.set(commit, [run1('build', 'success'), run1('e2e', 'failure')]);
  assert.match((await fetch(world)).stdout, /waiting: 1 of 2 checks/);
  assert.is((await world.deploy()).status, 0);
  const next = await world.push('v2', { deploy: DEPLOY });
  api.checks.set(next, [run1('build', 'failure')]);
  assert.match((await fetch(world)).stdout, /not deployed: build of/);
  assert.is((await edit(world, 'none')).status, 0);
  assert.is(world.state().require_checks, undefined);
  assert.is((await fetch(world)).stdout, 'shop: deployed v2\n');
});

test('a check that the host does not report never counts as passed', async ({ world, api }) => {
  await edit(world, 'all');
  await world.push('v1', { deploy: DEPLOY });
  for (const [fault, code] of [
    [{ status: 503, body: {} }, 'code_host_error'],
    [
      { status: 403, body: { message: 'Resource not accessible by personal access token' } },
      'token_invalid',
    ],
    [{ status: 200, body: { check_runs: 'none' } }, 'code_host_error'],
    [{ status: 429, body: {} }, 'rate_limited'],
  ] as const) {
    api.fail(fault, 4);
    const { status, stdout } = await fetch(world, '--json');
    assert.equal([status, JSON.parse(stdout).error], [1, code]);
    api.heal();
  }
  assert.not.ok(world.kinds().includes('DeployStarted'));
});

test.run();
