import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment } from '@runner/testing/git-repos';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { type World, worldSuite } from './world.ts';

const test = worldSuite('following tags and paths');

const edit = async ({ root }: World, ...args: string[]) => {
  const edited = await run('runner-edit', ['shop', ...args], { root });
  assert.is(edited.status, 0, edited.stderr);
};
const fetch = async ({ root }: World) =>
  (await run('runner-fetch', ['--deploy'], { root })).stdout.trimEnd();
const SHOP = { deploy: '' };

test('tags are deployed in ascending order; a changed active tag is announced once', async ({
  world,
}) => {
  const { root, git } = world;
  await edit(world, '--tags', 'v*', '--semver', '^1');
  await world.push('v1.0.0', SHOP);
  assert.is(await fetch(world), 'shop: deployed v1.0.0');
  await world.push('v2.0.0', SHOP);
  assert.is(await fetch(world), 'shop: up to date');
  const next = await world.push('v1.1.0', SHOP);
  assert.is(await fetch(world), 'shop: deployed v1.1.0');
  // The same name on another commit: the tag is moved.
  const moved = await world.push('v1.1.0', { ...SHOP, files: { more: '1' } });
  const [short, old] = [moved.slice(0, 12), next.slice(0, 12)];
  const line = `shop: the tag v1.1.0 was moved to ${short}: v1.1.0 of ${old} stays`;
  assert.equal([await fetch(world), await fetch(world)], [line, line]);
  assert.is(world.kinds().filter((kind) => kind === 'TagChanged').length, 1);
  execFileSync('git', ['update-ref', '-d', 'refs/tags/v1.1.0'], {
    cwd: git.path('acme/shop'),
    env: gitEnvironment(),
  });
  const gone = 'shop: the tag v1.1.0 was deleted: v1.1.0 of';
  assert.is(await fetch(world), `${gone} ${old} stays and is not replaced by v1.0.0`);
  const shown = JSON.parse((await run('runner-status', ['shop', '--json'], { root })).stdout);
  assert.equal(
    [shown.tags, shown.branch, shown.next],
    [{ pattern: 'v*', semver: '^1' }, '', 'the next tag v* (^1)'],
  );
  assert.match((await run('runner-list', [], { root })).stdout, / acme\/shop#v\* \^1\n/);
  assert.match(
    (await run('runner-status', ['shop'], { root })).stdout,
    /\n {2}tags: +v\* \(\^1\)\n/,
  );
  await edit(world, '--branch', 'main');
  assert.is(await fetch(world), `shop: deployed ${(await git.head('acme/shop'))?.slice(0, 12)}`);
});

test('a rollback by hand outlives pushes to other paths, and one ls-remote is a poll', async ({
  world,
}) => {
  const { root, git } = world;
  await edit(world, '--paths', 'shop,:(exclude)shop/docs');
  for (const version of ['v1', 'v2']) {
    await world.push(version, { ...SHOP, files: { 'shop/version': version } });
    assert.is(await fetch(world), `shop: deployed ${version}`);
  }
  assert.is((await run('runner-rollback', ['shop'], { root })).status, 0);
  await world.push('v3', { ...SHOP, files: { 'shop/docs/index': '3' } });
  assert.is(await fetch(world), 'shop: on hold: v2 was rolled back');
  const before = git.requests.length;
  assert.is(await fetch(world), 'shop: on hold: v2 was rolled back');
  assert.ok(git.requests.length - before <= 3);
  await world.push('v4', { ...SHOP, files: { 'shop/version': 'v4' } });
  assert.is(await fetch(world), 'shop: deployed v4');
  await world.push('v5', SHOP);
  assert.is(
    await fetch(world),
    'shop: up to date: v5 changes nothing in shop, :(exclude)shop/docs',
  );
  await edit(world, '--paths', '');
  assert.is(await fetch(world), 'shop: deployed v5');
});

test('apps of one repository are asked for with one ls-remote', async ({ world }) => {
  const { root, git } = world;
  await git.createRepo('acme/open', { public: true });
  await git.commit('acme/open', { file: '1' }, 'first');
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const add = ['--repo', 'acme/open', '--branch', 'main', '--public', '--name', name];
    assert.is((await run('runner-add', add, { root })).status, 0);
  }
  const before = git.requests.length;
  const { stdout } = await run('runner-fetch', ['a', 'b', 'c', 'd', 'e', 'f'], { root });
  assert.is(stdout.match(/new commit/g)?.length, 6);
  assert.is(git.requests.length - before, 2);
});

test('an app without a token is not told that its token cannot read a repository', async ({
  world: { root, git },
}) => {
  await git.createRepo('acme/open', { public: true });
  const add = ['--repo', 'acme/open', '--branch', 'main', '--public', '--name', 'open'];
  assert.is((await run('runner-add', add, { root })).status, 0);
  rmSync(git.path('acme/open'), { recursive: true });
  assert.is(
    (await run('runner-fetch', ['open'], { root })).stdout,
    'open: the code host has no public repository acme/open\n',
  );
});

test('the followed ref is checked when it is set', async ({ world: { root } }) => {
  const refuse = async (...args: string[]) => {
    const { status, stderr } = await run('runner-edit', ['shop', ...args], { root });
    return [status, stderr.replace(/^runner edit: /, '').trim()];
  };
  assert.equal(await refuse('--tags', 'v*', '--branch', 'x'), [
    2,
    "error: the argument '--branch <BRANCH>' cannot be used with '--tags <PATTERN>'",
  ]);
  assert.equal(await refuse('--semver', '^1'), [
    2,
    'error: the following required arguments were not provided: --tags <PATTERN>',
  ]);
  assert.is((await refuse('--tags', 'v*', '--semver', 'one'))[0], 1);
  assert.is((await refuse('--tags', '--x'))[0], 2);
  for (const path of ['../etc', '/etc', ':(exec)x', 'a\nb'])
    assert.is((await refuse('--paths', path))[0], 1, path);
  const state = join(root, 'state/shop.json');
  assert.is(JSON.parse(readFileSync(state, 'utf8')).version, 1);
  const bad = { ...JSON.parse(readFileSync(state, 'utf8')), tags: 'v*' };
  writeFileSync(state, JSON.stringify(bad));
  assert.match(
    (await run('runner-list', [], { root })).stderr,
    /has malformed tags \(state_malformed\)/,
  );
});

test.run();
