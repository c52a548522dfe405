import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { bytes, startRawHost } from '../hostile/raw-host.ts';
import { fetch } from './fetch.ts';
import { worldSuite } from './world.ts';

const test = worldSuite('fetch');

test('a new commit is reported, deployed with --deploy, and then up to date', async ({ world }) => {
  await world.push('v1');
  const seen = await fetch(world);
  assert.equal([seen.status, seen.stdout, seen.stderr], [0, 'shop: new commit v1\n', '']);
  assert.is(await world.page(), null);
  const deployed = await fetch(world, ['--deploy', 'shop']);
  assert.is(deployed.status, 0, deployed.stderr);
  assert.is(deployed.stdout, 'shop: deployed v1\n');
  assert.is(world.events()[0]?.trigger, 'fetch');
  const quiet = await fetch(world, ['--deploy']);
  assert.equal([quiet.status, quiet.stdout, quiet.stderr], [0, 'shop: up to date\n', '']);
  assert.equal([(await fetch(world, ['--deploy', '-q'])).stdout], ['']);
  const log = readFileSync(join(world.root, 'logs/fetch.log'), 'utf8').replace(/^\S+ /gm, '');
  assert.is(log, 'shop: new commit v1\nshop: deployed v1\nshop: up to date\nshop: up to date\n');
  assert.is.not(world.state().last_checked, null);
});

test('after a deploy by hand the head is not behind, whether or not fetch has looked since', async ({
  world,
}) => {
  await world.push('v1');
  await fetch(world);
  assert.is.not(world.state().behind_since ?? null, null);
  await world.deploy();
  assert.is(world.state().behind_since, null);
});

test('the JSON of a failed deploy has its error, as deploy has', async ({ world }) => {
  await world.push('v1', { deploy: 'build: echo no such file >&2; exit 3' });
  const fetched = JSON.parse((await fetch(world, ['--deploy', '--json'])).stdout);
  const deployed = JSON.parse(
    (await world.deploy(['--json'])).stdout.trim().split('\n').at(-1) ?? '',
  );
  assert.equal([fetched.result, deployed.result], ['failed', 'failed']);
  assert.match(fetched.error, 'status 3');
  assert.is(fetched.error, deployed.error);
});

test('one app that cannot be asked about hides no other, and the status is the worst', async ({
  world,
}) => {
  await world.push('v1');
  await run('runner-add', ['--repo', 'acme/none', '--branch', 'main', '--token-from', 'shop'], {
    root: world.root,
  });
  const done = await fetch(world, ['--json']);
  assert.is(done.status, 1);
  const lines = done.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { app: string; result: string; error: string | null });
  lines.sort((a, b) => (a.app < b.app ? -1 : 1));
  assert.equal(
    lines.map(({ app, result, error }) => [app, result, error]),
    [
      ['none', 'error', 'repo_not_found'],
      ['shop', 'new_commit', null],
    ],
  );
});

test('a server without apps is reported as such', async () => {
  const root = temporaryFolder('none');
  const said = await run('runner-fetch', ['--deploy'], { root });
  assert.equal(
    [said.status, said.stdout, said.stderr],
    [0, 'no apps yet: register one with runner add\n', ''],
  );
  const json = await run('runner-fetch', ['--json'], { root });
  assert.equal([json.status, json.stdout], [0, '{"count":0,"apps":[]}\n']);
});

test('many apps of slow hosts get one line each, and Node warns of nothing', async () => {
  const answer = bytes('HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n');
  const late = () => startRawHost((socket) => setTimeout(answer, 1500, socket));
  const hosts = await Promise.all([late(), late(), late()]);
  const root = temporaryFolder('many');
  const entries = hosts.map(
    ({ port }, at) => `  h${at}: {type: git, git_url: "http://127.0.0.1:${port}"}\n`,
  );
  writeFileSync(`${root}/config.yml`, `code_hosts:\n${entries.join('')}`, { mode: 0o600 });
  for (let index = 0; index < 12; index += 1) {
    const args = ['--repo', `h${index % 3}:a/b${index}`, '--branch', 'main', '--public'];
    await run('runner-add', args, { root });
  }
  const done = await run('runner-fetch', [], { root });
  await Promise.all(hosts.map((host) => host.close()));
  assert.equal([done.status, done.stderr], [1, '']);
  assert.is(done.stdout.match(/^\w+: the code host reports an internal error/gm)?.length, 12);
});

test.run();
