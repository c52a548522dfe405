import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { deployFile, gate, worldSuite } from './world.ts';

const test = worldSuite('deploy');

test('a first deploy clones, starts and checks the app, and prints each step', async ({
  world,
}) => {
  const commit = await world.push('v1.0.0');
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
  assert.match(
    done.stdout,
    /^Deployed shop v1\.0\.0 in \d+\.\d s \[[0-9a-f]{8}\], at http:\/\/127\.0\.0\.1:\d+\n$/,
  );
  assert.is(await world.page(), 'v1.0.0');
  assert.match(
    world.current() ?? '',
    new RegExp(`^\\.\\./\\.\\./releases/\\d{8}T\\d{6}Z-${commit.slice(0, 12)}$`),
  );
  assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
  const [started, success] = world.events();
  assert.is(started?.deploy_id, success?.deploy_id);
  assert.is(success?.version, 'v1.0.0');
  assert.is(success?.commit, commit);
  const { instances, deploying, failures } = world.state() as {
    instances: { default: { current: { version: string } } };
    deploying: null;
    failures: null;
  };
  assert.is(instances.default.current.version, 'v1.0.0');
  assert.is(deploying, null);
  assert.is(failures, null);
});

test('a commit that was fetched already is not fetched again', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const before = world.git.requests.length;
  const done = await world.deploy();
  assert.is(done.status, 0, done.stderr);
  // Each conversation with the host begins with it: here the list of branches and tags alone.
  const begun = world.git.requests
    .slice(before)
    .filter(({ path, status }) => path.includes('/info/refs') && status === 200);
  assert.is(begun.length, 1);
});

test('a build that fails changes nothing: the version before still answers', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const before = world.current();
  await world.push('v2', {
    deploy: deployFile(world.port, 'build: "echo compiling; echo broken >&2; exit 7"'),
  });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(done.stdout, /^Failed shop v2 at build \[[0-9a-f]{8}\]\. v1 is active\.\n$/);
  assert.match(done.stderr, /Deploy FAILED for shop v2\.\nNext steps:\n {2}runner why shop\n$/);
  assert.is(await world.page(), 'v1');
  assert.is(world.current(), before);
  assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess', 'DeployStarted', 'DeployFailure']);
  const failure = world.events().at(-1);
  assert.is(
    failure?.error,
    'build: `echo compiling; echo broken >&2; exit 7` ended with status 7\ncompiling\nbroken',
  );
  assert.is(failure?.previous_version, 'v1');
  assert.is((world.state().failures as { count: number }).count, 1);
  assert.equal(
    readdirSync(join(world.root, 'apps/shop/releases')).filter((name) => name.startsWith('.')),
    [],
  );
});

test('an unhealthy version is rolled back: the version before answers again', async ({ world }) => {
  await world.push('v1');
  await world.deploy();
  const before = world.current();
  await world.push('v2', {
    health: 503,
    // Long enough for its answer to be seen on a busy machine.
    deploy: deployFile(world.port).replace('within: 60s', 'within: 2s'),
  });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    done.stdout,
    /^Failed shop v2 at health \[[0-9a-f]{8}\]\. Rolled back\. v1 is active\.\n$/,
  );
  assert.is(await world.page(), 'v1');
  assert.is(world.current(), before);
  assert.equal(world.kinds().slice(2), ['DeployStarted', 'DeployFailure', 'RollbackSuccess']);
  const [failure, rollback] = world.events().slice(-2);
  assert.is(failure?.deploy_id, rollback?.deploy_id);
  assert.match(
    String(failure?.error),
    /^health: http:\/\/127\.0\.0\.1:\d+\/health answered 503 instead of 200-299, not healthy within 2 s\nbody: not ready: the database/,
  );
  assert.equal(String(failure?.cause).split('\n'), [
    'health: answered 503 instead of 200-299',
    'body: not ready: the database does not answer',
  ]);
  assert.is(rollback?.version, 'v1');
  assert.is(rollback?.from_version, 'v2');
  const stats = await run('runner-stats', ['--json'], world);
  const down = Number(failure?.gap_ms) / 1000;
  assert.equal(JSON.parse(stats.stdout).time_to_restore_s, { p50: down, p90: down });
  // The kept log has the answer and the verdict, in front of what the way back printed.
  const log = readFileSync(String(failure?.log), 'utf8');
  assert.match(log, /\nbody: not ready: the database.*\nhealth: .*not healthy within 2 s\n\$ /);
});

test('a wrong .deploy.yml fails the deploy with file, line and key', async ({ world }) => {
  await world.push('v1', { deploy: 'build: make\nstrat: { type: none }\n' });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    String(world.events().at(-1)?.error),
    /^config: \.deploy\.yml:2: strat: unknown key/,
  );
  const log = readFileSync(String(world.events().at(-1)?.log), 'utf8');
  assert.match(log, /^config: \.deploy\.yml:2: strat: unknown key/);
});

test('of two concurrent deploys, the second names the lock holder and exits with 75', async ({
  world,
}) => {
  const held = gate();
  await world.push('v1', { deploy: deployFile(world.port, held.build) });
  const first = world.deploy();
  await held.reached();
  const json = await world.deploy(['--json']);
  const told = JSON.parse(json.stdout) as Record<string, unknown>;
  assert.equal([json.status, told.error, told.result], [75, 'locked', 'skipped']);
  const second = await world.deploy();
  assert.is(second.status, 75);
  assert.match(
    second.stderr,
    /^runner deploy: 'shop' is busy: deploy.*, begun by .*, process \d+; see: runner status shop \(locked\)\n$/,
  );
  held.open();
  assert.is((await first).status, 0);
});

test.run();
