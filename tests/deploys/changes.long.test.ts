import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { makeWorld, type World, worldSuite } from './world.ts';

const test = worldSuite('changes');

const changes = ({ root }: World, ...args: string[]) =>
  run('runner-changes', ['shop', ...args], { root });
const listed = async (world: World, ...args: string[]) => {
  const { status, stdout, stderr } = await changes(world, ...args, '--json');
  assert.is(status, 0, stderr);
  return JSON.parse(stdout);
};
const commit = ({ git }: World, message: string) =>
  git.commit('acme/shop', { file: message }, message);
const subjects = ({ commits }: { commits: { subject: string }[] }) =>
  commits.map(({ subject }) => subject);

test('the changes that a deploy would ship, then those it shipped, with a compare link', async ({
  world,
}) => {
  const { root } = world;
  assert.match((await changes(world)).stderr, /nothing of 'shop' is deployed yet/);
  const first = await world.push('v1', { deploy: '' });
  assert.is((await world.deploy()).status, 0);
  for (const message of ['Fix the cart', 'Add\u202e a voucher', 'Count', 'Sort', 'Paint', 'Test'])
    await commit(world, message);
  const head = await world.push('v2', { deploy: '' });
  const next = await listed(world);
  assert.equal(
    [next.what, next.count, next.from, next.to],
    ['next', 7, { version: 'v1', commit: first }, { version: 'v2', commit: head }],
  );
  assert.equal(next.compare, `${world.git.url}/acme/shop/compare/${first}...${head}`);
  assert.equal(Object.keys(next.commits[0]), ['commit', 'author', 'date', 'subject']);
  assert.equal([next.commits[6].subject, next.commits[6].author], ['Fix the cart', 'Ada Example']);
  assert.match(next.commits[6].date, /^2024-01-01T00:01:00\.000Z$/);
  const shown = await changes(world);
  assert.match(
    shown.stdout,
    /^shop: a deploy would bring 7 commits, v1 to v2\nCOMMIT .*\n[0-9a-f]{12} {2}2024-01-01 {2}Ada Example {2}v2\n/,
  );
  assert.not.match(shown.stdout, /\u202e/);
  assert.is((await world.deploy()).status, 0);
  const last = await listed(world);
  assert.equal([last.what, subjects(last)], ['last', subjects(next)]);
  const brought = {
    count: 7,
    subjects: ['v2', 'Test', 'Paint', 'Sort', 'Count'],
    authors: ['Ada Example'],
    compare: next.compare,
  };
  const started = world.events().filter(({ event_type: kind }) => kind === 'DeployStarted');
  assert.equal(
    started.map((event) => event.changes),
    [{ count: null, subjects: ['v1'], authors: ['Ada Example'] }, brought],
  );
  const rows = (await run('runner-history', ['--json'], { root })).stdout.trim().split('\n');
  assert.equal(JSON.parse(rows[1] as string).changes, brought);
  const status = (await run('runner-status', ['shop'], { root })).stdout;
  assert.match(
    status,
    /7 commits by Ada Example:\n +- v2\n +- Test\n +- Paint\n +- Sort\n +- Count\n +- and 2 more\n/,
  );
  assert.equal(subjects(await listed(world, 'v1', 'v2')), subjects(next));
  assert.equal(subjects(await listed(world, first, 'main')), subjects(next));
  assert.equal((await listed(world, 'v2', 'v1')).count, 0);
  const unknown = await changes(world, 'v9');
  assert.match(
    unknown.stderr,
    /has no branch or tag 'v9', and no such version is kept.*\(ref_not_found\)\n$/,
  );
});

test('a side branch, a force push and a host that sends files with commits: never a wrong list', async ({
  world,
}) => {
  const { git } = world;
  for (let each = 0; each < 60; each += 1) await commit(world, `old ${each}`);
  await world.launch('v1', { deploy: '' });
  await git.commit('acme/shop', { file: 'x', '.deploy.yml': '' }, 'A new beginning', {
    force: true,
  });
  const forced = await listed(world);
  assert.equal(subjects(forced), ['A new beginning']);
  assert.is((await world.deploy()).status, 0);
});

test('a failure names the changes that its start named, also after a kill and by fetch', async ({
  world,
}) => {
  const { root } = world;
  await world.launch('v1', { deploy: '' });
  await commit(world, 'First of two');
  await world.push('v2', { deploy: 'build: exit 1' });
  assert.is((await world.deploy()).status, 1);
  await world.push('v3', { deploy: 'build: sleep 60' });
  const killed = start('runner-deploy', ['shop'], { root });
  await until(
    () => (world.state().deploying as { stage?: string } | null)?.stage === 'build',
    killed.stderr,
  );
  process.kill(killed.pid, 'SIGKILL');
  await killed.done;
  await world.push('v4', { deploy: 'build: exit 1' });
  assert.is((await run('runner-fetch', ['--deploy'], { root })).status, 1);
  const named = (kind: string) =>
    world
      .events()
      .filter(({ event_type }) => event_type === kind)
      .map(({ changes }) => changes);
  const [, ...started] = named('DeployStarted');
  const failed = named('DeployFailure');
  assert.equal(failed, started);
  assert.equal(
    failed.map((each) => (each as { subjects: string[] }).subjects),
    [
      ['v2', 'First of two'],
      ['v3', 'v2', 'First of two'],
      ['v4', 'v3', 'v2', 'First of two'],
    ],
  );
});

test('a host that sends files with the commits gets the newest subject, and nothing more is kept', async () => {
  const world = await makeWorld({ old: true });
  for (const version of ['v1', 'v2', 'v3']) {
    await world.launch(version, { deploy: '' });
  }
  const found = world
    .events()
    .filter(({ event_type: kind }) => kind === 'DeployStarted')
    .map(({ changes }) => changes);
  const { compare, ...last } = found.at(-1) as Record<string, unknown>;
  assert.equal(last, { count: null, subjects: ['v3'], authors: ['Ada Example'] });
  assert.match(String(compare), /\/acme\/shop\/compare\/[0-9a-f]{40}\.\.\.[0-9a-f]{40}$/);
  assert.match(
    (await changes(world)).stderr,
    /the code host does not say what is between v2 and v3/,
  );
  // Deploys ask again after an hour, a person at once.
  for (const name of ['allowFilter', 'allowAnySHA1InWant'])
    execFileSync('git', ['config', `uploadpack.${name}`, 'true'], {
      cwd: world.git.path('acme/shop'),
    });
  const mark = join(world.root, 'apps/shop/history.git/unfiltered');
  assert.ok(existsSync(mark));
  assert.equal(subjects(await listed(world)), ['v3']);
  assert.not.ok(existsSync(mark));
  await world.close();
});

test.run();
