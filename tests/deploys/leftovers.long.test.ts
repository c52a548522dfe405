/** What outlives its leader, its session or its deploy is found by its environment, and ended. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { processesIn } from '@runner/testing/processes';
import { preloading, run, shellWord, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { isAlive, until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from './world.ts';

const test = suite<{ world: World }>('leftovers');

test.before.each(async (context) => {
  context.world = await makeWorld();
});
test.after.each(async ({ world }) => {
  await run('runner-remove', ['shop', '--yes', '--force'], { root: world.root });
  await world.close();
});

/** A `.deploy.yml` whose app is started by this command. */
const startedBy = (world: World, command: string) =>
  deployFile(world.port).replace('exec node server.js', command);

const pidFile = (world: World) => join(world.root, 'apps/shop/instances/default/run/pid.json');
const leaderOf = (world: World) =>
  (JSON.parse(readFileSync(pidFile(world), 'utf8')) as { pid: number }).pid;

async function deployed(world: World, version: string, deploy?: string): Promise<void> {
  await world.push(version, deploy === undefined ? {} : { deploy });
  const done = await world.deploy();
  assert.is(done.status, 0, done.stdout + done.stderr);
  assert.is(await world.page(), version);
}

async function killLeader(world: World): Promise<void> {
  const pid = leaderOf(world);
  process.kill(pid, 'SIGKILL');
  await until(() => !isAlive(pid), 'the leader goes on');
  assert.is(await world.page(), 'v1');
}

test('a worker whose leader was killed is ended by the next deploy', async ({ world }) => {
  await deployed(world, 'v1', startedBy(world, 'node server.js & wait'));
  await killLeader(world);
  await deployed(world, 'v2');
});

test('a worker in its own session is ended by the next deploy, and by remove', async ({
  world,
}) => {
  const command = 'setsid node server.js & wait';
  await deployed(world, 'v1', startedBy(world, command));
  await killLeader(world);
  await deployed(world, 'v2', startedBy(world, command));
  const done = await run('runner-remove', ['shop', '--yes'], { root: world.root });
  assert.is(done.status, 0, done.stderr);
  assert.is(await world.page(), null);
});

test('a start command that goes into the background is refused, and ended', async ({ world }) => {
  const command = '(setsid node server.js & sleep 0.1)';
  await world.push('v1', { deploy: startedBy(world, command) });
  const done = await world.deploy();
  assert.is(done.status, 1, done.stdout);
  assert.match(
    String(world.events().at(-1)?.error),
    /^(start|health): `\(setsid node .*` went into the background: start the app in the foreground/,
  );
  assert.is(await world.page(), null);
});

test('the processes of another root with the same names are left alone', async ({ world }) => {
  const other = await makeWorld();
  try {
    await deployed(other, 'v1');
    await deployed(world, 'v1');
    await deployed(world, 'v2');
    assert.is(await other.page(), 'v1');
  } finally {
    await other.close();
  }
});

test('the start command of a killed deploy is ended before the next one starts', async ({
  world,
}) => {
  const folder = temporaryFolder('served');
  const [served, pid] = [join(folder, 'served'), join(folder, 'pid')];
  const serve = `cp VERSION ${shellWord(served)}`;
  const slow = `echo $$ > ${shellWord(pid)}; sleep 300; ${serve}`;
  await world.push('v1', { deploy: `start: { type: command, run: "${serve}" }\n` });
  await world.deploy();
  await world.push('v2', { deploy: `start: { type: command, run: "${slow}" }\n` });
  const killed = start('runner-deploy', ['shop'], { root: world.root });
  killed.stdin.end();
  await until(() => existsSync(pid) && readFileSync(pid, 'utf8').trim() !== '', killed.stderr);
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  await world.launch('v3', { deploy: `start: { type: command, run: "${serve}" }\n` });
  assert.is(readFileSync(served, 'utf8'), 'v3\n');
  assert.not.ok(isAlive(Number(readFileSync(pid, 'utf8'))), 'the start command goes on');
});

test('the start command of a killed restart is ended before the app is started again', async ({
  world,
}) => {
  const folder = temporaryFolder('served');
  const [at, runs] = [join(folder, 'at'), join(folder, 'runs')];
  const slow = `echo $$ > ${shellWord(at)}; sleep \\"$(cat pause)\\"; echo one >> ${shellWord(runs)}`;
  const deploy = `shared: [pause]\nstart: { type: command, run: "${slow}" }\n`;
  const pause = join(world.root, 'apps/shop/instances/default/shared/pause');
  mkdirSync(dirname(pause), { recursive: true });
  writeFileSync(pause, '0');
  await world.launch('v1', { deploy });
  writeFileSync(pause, '3');
  rmSync(at);
  const killed = start('runner-restart', ['shop'], { root: world.root });
  killed.stdin.end();
  await until(() => existsSync(at) && readFileSync(at, 'utf8').trim() !== '', killed.stderr);
  const pid = Number(readFileSync(at, 'utf8'));
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  writeFileSync(pause, '0');
  await world.deploy(['--ref', 'nothing']);
  assert.not.ok(isAlive(pid), 'the first start command goes on');
  assert.is(readFileSync(runs, 'utf8'), 'one\none\n');
});

test('a stopped app keeps its links to the version before one that cannot be stopped', async ({
  world,
}) => {
  const start = 'start: { type: command, run: "true" }\n';
  await world.push('v1', { deploy: `${start}stop: "true"\n` });
  await world.deploy();
  await run('runner-stop', ['shop'], { root: world.root });
  const health = 'health: { cmd: "false", interval: 50ms, within: 200ms }\n';
  await world.push('v2', { deploy: `${start}stop: exit 1\n${health}` });
  const failed = await world.deploy();
  assert.is(failed.status, 3, failed.stderr);
  assert.match(failed.stdout, /uncertain what is running/);
  const version = join(world.root, 'apps/shop/instances/default/current/VERSION');
  assert.is(readFileSync(version, 'utf8'), 'v1\n');
});

test('processes that the start command forks during the cleanup of a killed deploy end too', async ({
  world,
}) => {
  const there = join(temporaryFolder('forks'), 'there');
  const forks = `while :; do touch '${there}'; setsid sleep 97.531 & sleep 0.005; done`;
  await world.push('v1', { deploy: `start: { type: command, run: "${forks}" }\n` });
  const killed = start('runner-deploy', ['shop'], { root: world.root });
  killed.stdin.end();
  await until(() => existsSync(there), killed.stderr);
  process.kill(killed.pid, 'SIGKILL');
  await killed.done.catch(() => {});
  await world.deploy(['--ref', 'nothing']);
  assert.equal(processesIn(join(world.root, 'apps')), []);
});

test('nothing is started when its note cannot be written', async ({ world }) => {
  mkdirSync(pidFile(world), { recursive: true });
  await world.push('v1');
  const done = await world.deploy();
  assert.is.not(done.status, 0);
  assert.is(await world.page(), null);
});

test('a process is ended even if the runner was killed before recording it', async ({ world }) => {
  const file = join(temporaryFolder('hook'), 'hook.cjs');
  writeFileSync(
    file,
    `const processes = require('node:child_process');
const { spawn } = processes;
processes.spawn = (...all) => {
  const child = spawn(...all);
  if (String(all[1]).includes('exec node server.js')) process.kill(process.pid, 'SIGKILL');
  return child;
};
`,
  );
  await world.push('v1');
  await world.deploy([], preloading(file));
  await until(async () => (await world.page()) === 'v1', 'the app was not started');
  await deployed(world, 'v2');
});

test.run();
