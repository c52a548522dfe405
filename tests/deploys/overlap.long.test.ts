import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIAL, killedAfter, pausedAt, recorded } from '@runner/testing/killing';
import { type Ended, run, start } from '@runner/testing/run';
import { isAlive, until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('overlapping and many');

const fetch = (world: World, args: readonly string[] = []): Promise<Ended> =>
  run('runner-fetch', ['--deploy', ...args], { root: world.root });

async function addApp(world: World, name: string): Promise<void> {
  await world.git.createRepo(`acme/${name}`);
  const args = ['--repo', `acme/${name}`, '--branch', 'main', '--token-from', 'shop'];
  const added = await run('runner-add', args, { root: world.root });
  assert.is(added.status, 0, added.stderr);
}

test('a hundred apps are fetched in one run, and each is reported once', async ({ world }) => {
  // Registered by hand: a hundred processes would only cost time.
  const shop = world.state();
  const names = Array.from({ length: 100 }, (_, number) => `app${number}`);
  await world.push('v1', { deploy: 'keep: 1\n' });
  await world.git.createRepo('acme/open', { public: true });
  await world.git.commit('acme/open', { 'index.html': '' }, 'open', { tag: 'o1' });
  for (const app of names) {
    const state = { ...shop, app, repo: 'acme/open', state: {} };
    writeFileSync(join(world.root, `state/${app}.json`), JSON.stringify(state), { mode: 0o600 });
  }
  const done = await run('runner-fetch', ['--json'], { root: world.root });
  assert.is(done.status, 0, done.stderr);
  const lines = done.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { app: string; text: string });
  const wanted = [...names.map((app) => `${app}: new commit o1`), 'shop: new commit v1'];
  assert.equal(lines.map(({ app, text }) => `${app}: ${text}`).sort(), wanted.sort());
  const log = readFileSync(join(world.root, 'logs/fetch.log'), 'utf8');
  assert.is(log.trimEnd().split('\n').length, 101);
});

test('a commit deployed between check and deploy is not deployed again', async ({ world }) => {
  await addApp(world, 'zoo');
  await world.git.commit('acme/zoo', { '.deploy.yml': 'keep: 2\n' }, 'zoo', { tag: 'z1' });
  // Both are new when the fetch looks; while it deploys the first, somebody deploys the second.
  await world.push('v1', {
    deploy: `build: "runner-deploy --root '${world.root}' zoo"\n`,
  });
  const done = await fetch(world, ['--jobs', '1']);
  assert.is(done.status, 0, done.stderr);
  assert.is(done.stdout, 'shop: deployed v1\nzoo: up to date\n');
  const zoo = world.events().filter((event) => event.project === 'zoo');
  assert.equal(
    zoo.map((event) => event.event_type),
    ['DeployStarted', 'DeploySuccess'],
  );
});

test('two timer runs at the same time deploy once', async ({ world }) => {
  await world.push('v1', { deploy: 'build: sleep 0.5\n' });
  const both = await Promise.all([fetch(world), fetch(world)]);
  assert.equal(
    both.map(({ status }) => status),
    [0, 0],
  );
  const said = both.map(({ stdout }) => stdout).sort();
  assert.is(said[0], 'shop: deployed v1\n');
  assert.match(said[1] ?? '', /^shop: (skipped: deploy [0-9a-f]{8} running|up to date)\n$/);
  assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
});

test('two concurrent checks of one app do not disturb each other', async ({ world }) => {
  await world.push('v1');
  const told = { status: 0, stdout: 'shop: new commit v1\n', stderr: '' };
  const look = async (running: Promise<Ended>) => {
    const { status, stdout, stderr } = await running;
    return { status, stdout, stderr };
  };
  // The second one begins and ends while the first has made the file that carries the token.
  // `before`: the second one has just made its own when the first is about to.
  for (const side of ['after', 'before'] as const) {
    const pause = pausedAt(CREDENTIAL, side);
    const first = start('runner-fetch', [], { root: world.root, env: pause.env });
    await pause.reached();
    if (side === 'after')
      assert.equal(await look(run('runner-fetch', [], { root: world.root })), told);
    else writeFileSync(join(world.root, 'apps/shop/.credential.raw'), '');
    pause.end();
    assert.equal(await look(first.done), told, side);
    assert.equal(readdirSync(join(world.root, 'apps/shop')), [], side);
  }
});

test('the timer cleans up after a killed deploy and does not redeploy the running version', async ({
  world,
}) => {
  await world.push('v1', { deploy: 'keep: 2\n' });
  await world.deploy([], killedAfter(recorded('DeploySuccess')));
  assert.not.equal(world.state().deploying, null);
  const done = await fetch(world);
  assert.equal([done.status, done.stdout], [0, 'shop: up to date\n']);
  assert.is(world.state().deploying, null);
  assert.equal(world.kinds(), ['DeployStarted', 'DeploySuccess']);
});

test('processes started by a build, hook or health command end with it, in its group or not', async ({
  world,
}) => {
  const pids = join(world.root, 'pids');
  const leave = `(setsid sleep 300 & echo $! >> '${pids}'); sleep 301 & echo $! >> '${pids}'; echo left`;
  const hooks = ['pre_build', 'post_build', 'pre_switch', 'post_deploy', 'on_failure'];
  const deploy = `build: "${leave}"
hooks: { ${hooks.map((hook) => `${hook}: "${leave}"`).join(', ')} }
start: { type: command, run: "true" }
`;
  await world.push('v1', { deploy: `${deploy}health: { cmd: "${leave}" }\n` });
  const done = await world.deploy(['-v']);
  assert.is(done.status, 0, done.stderr);
  assert.match(done.stderr, /\nleft\n/);
  await world.push('v2', { deploy: `${deploy}health: { cmd: "exit 1", within: 100ms }\n` });
  assert.is((await world.deploy()).status, 1);
  const left = readFileSync(pids, 'utf8').trim().split('\n');
  // Two each: six commands of the first deploy, five of the second, and the health of the rollback.
  assert.is(left.length, 24);
  for (const pid of left) await until(() => !isAlive(Number(pid)), `process ${pid} goes on`);
});

test('a build that ignores SIGTERM and fled its group is ended with its time limit', async ({
  world,
}) => {
  const pids = join(world.root, 'pids');
  const flee = `trap '' TERM; setsid sh -c 'trap \\"\\" TERM; echo $$ >> \\"${pids}\\"; sleep 300' & echo $$ >> \\"${pids}\\"; sleep 300`;
  await world.push('v1', {
    deploy: deployFile(world.port, `build: { run: "${flee}", timeout: 3s }`),
  });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(String(world.events().at(-1)?.error), / ran out of time \(3 s\)/);
  for (const pid of readFileSync(pids, 'utf8').trim().split('\n')) {
    await until(() => !isAlive(Number(pid)), `process ${pid} goes on`);
  }
});

test('a deploy killed with SIGTERM while it fetches has changed nothing', async ({ world }) => {
  await world.push('v1');
  world.git.fail('hang', Number.POSITIVE_INFINITY);
  const running = start('runner-deploy', ['shop'], { root: world.root });
  await until(() => world.git.requests.length > 0, 'nothing was asked for');
  process.kill(running.pid, 'SIGTERM');
  const done = await running.done;
  assert.is(done.status, 143);
  assert.match(
    done.stderr,
    /interrupted by SIGTERM before anything was changed \(interrupted\)\n$/,
  );
  assert.not.ok(done.stderr.includes(TOKEN));
  assert.equal([world.kinds(), world.state().deploying], [[], null]);
});

test.run();
