/** From 0.1.0 to this version, and back: no event, message, hold, block or running app is lost. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { processesIn } from '@runner/testing/processes';
import { type Ended, run } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { killedAfter, staged } from '../deploys/faults.ts';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';
import { buildOldVersion, hasOldVersion } from './old-version.ts';

const here = process.env.RUNNER_DIST;

/** From here on the executables of this folder are run; undefined: those of this checkout. */
function use(dist: string | undefined): void {
  if (dist === undefined) delete process.env.RUNNER_DIST;
  else process.env.RUNNER_DIST = dist;
}

interface Context {
  readonly world: World;
  readonly chat: Discord;
  readonly old: string;
  /** Keys of all records that were ever in the log. */
  readonly records: Set<string>;
}

const test = suite<Context>('upgrade from 0.1.0');

const GOOD = (world: World) => deployFile(world.port, 'notify: {}\n');
const BAD = 'build: "echo no such module; exit 1"\n';

async function runOn({ root }: World, tool: string, ...args: string[]): Promise<Ended> {
  const ended = await run(tool, args, { root });
  assert.ok(ended.status !== null && ended.status < 3, ended.stderr);
  return ended;
}

const fetched = async (world: World, app: string) =>
  (await runOn(world, 'runner-fetch', '--deploy', app)).stdout.trimEnd();

const commitBlog = (world: World, version: string, deploy: string) =>
  world.git.commit('acme/blog', { '.deploy.yml': deploy, version }, version, { tag: version });

/** The processes of the app, each with its version: there must be one. */
function running({ root }: World): { pid: number; version: string }[] {
  return processesIn(root)
    .filter(({ command }) => command.includes('server.js'))
    .map(({ pid }) => ({ pid, version: readFileSync(`/proc/${pid}/cwd/VERSION`, 'utf8').trim() }));
}

/** The lines of the log and of its rotated files. */
function linesOf({ root }: World): string[] {
  const logs = join(root, 'logs');
  return readdirSync(logs)
    .filter((name) => name.startsWith('deploy-events.jsonl'))
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n').filter(Boolean));
}

/** What was recorded is still there, and the log is sound to the version that is in use. */
async function checkLog({ world, records }: Context): Promise<void> {
  const lines = new Set(linesOf(world));
  assert.equal(
    [...records].filter((line) => !lines.has(line)),
    [],
  );
  for (const line of lines) records.add(line);
  const verified = await runOn(world, 'runner-audit', 'verify');
  assert.is(verified.status, 0, `${verified.stdout}${verified.stderr}`);
}

/** Queues a message while the chat is away. */
async function queue({ world, chat }: Context, version: string): Promise<void> {
  chat.fail('drop', Number.POSITIVE_INFINITY);
  const record = { event_type: 'DeploySuccess', project: 'shop', instance: 'default', version };
  const stdin = `${JSON.stringify({ ...record, timestamp: new Date().toISOString(), deploy_id: 'a1b2c3d4' })}\n`;
  const sent = await run('runner-notify', ['send', '--wait', '0'], { root: world.root, stdin });
  assert.is(sent.status, 0, sent.stderr);
  chat.heal();
}

/** The messages that the version in use delivers. */
async function checkDelivered({ world, chat }: Context, version: string): Promise<void> {
  rmSync(join(world.root, 'spool/notify/discord.json'), { force: true });
  const flushed = await runOn(world, 'runner-notify', 'flush', '--now');
  assert.is(flushed.status, 0, flushed.stderr);
  const delivered = chat.messages.filter(({ payload }) =>
    JSON.stringify(payload).includes(version),
  );
  assert.is(delivered.length, 1, version);
}

/** What `list` says of an app: its state, and what its instance runs. */
async function listed(world: World, app: string): Promise<unknown[]> {
  const { stdout } = await runOn(world, 'runner-list', '--json');
  const { apps } = JSON.parse(stdout) as {
    apps: { app: string; state: string; instances: { current: { version: string } | null }[] }[];
  };
  const found = apps.find((each) => each.app === app);
  return [found?.state, ...(found?.instances ?? []).map(({ current }) => current?.version)];
}

/** A deploy by the version in use that is killed while it starts the new version. */
async function killDeploy(world: World): Promise<void> {
  const killed = await world.deploy([], killedAfter(staged('start')));
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
}

/** A server on which 0.1.0 has deployed, failed, rolled back, queued and rotated. */
async function makeOldServer(): Promise<Context> {
  const old = buildOldVersion();
  use(old);
  const [world, chat] = [await makeWorld(), await startDiscord()];
  const config = `code_host_git_url: ${world.git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\nretry_after: [0s]\n`;
  writeFileSync(join(world.root, 'config.yml'), config, { mode: 0o600 });
  await world.git.createRepo('acme/blog');
  await runOn(
    world,
    'runner-add',
    '--repo',
    'acme/blog',
    '--branch',
    'main',
    '--token-from',
    'shop',
  );
  for (const version of ['v1', 'v2', 'v3']) {
    await world.push(version, { deploy: GOOD(world) });
    assert.is((await world.deploy()).status, 0);
  }
  const logs = join(world.root, 'logs');
  renameSync(join(logs, 'deploy-events.jsonl'), join(logs, 'deploy-events.jsonl.1'));
  assert.is((await runOn(world, 'runner-rollback', 'shop')).status, 0);
  await commitBlog(world, 'b1', BAD);
  for (const _ of [1, 2, 3]) assert.match(await fetched(world, 'blog'), /failed at build/);
  const context = { world, chat, old, records: new Set<string>() };
  await queue(context, 'queued-by-old');
  // An event that could not be appended.
  const kept = join(world.root, 'spool/audit');
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  const event = {
    ...{ timestamp: new Date().toISOString(), event_type: 'RollbackSuccess', project: 'shop' },
    ...{
      instance: 'default',
      version: 'v2',
      from_version: 'v3',
      reason: 'kept',
      deploy_id: 'dead0001',
    },
  };
  const name = '20261101093000000-dead0001-RollbackSuccess.jsonl';
  writeFileSync(join(kept, name), `${JSON.stringify(event)}\n`, { mode: 0o600 });
  return context;
}

test.after(async ({ world, chat }) => {
  use(here);
  await world?.close();
  await chat?.close();
});

const skipped = hasOldVersion() ? undefined : 'the history does not hold version 0.1.0';
if (skipped) process.stdout.write(`skipped: ${skipped}\n`);
const testOrSkip = skipped ? test.skip : test;

testOrSkip('this version goes on where 0.1.0 was', async (context) => {
  Object.assign(context, await makeOldServer());
  const { world, old } = context;
  const [before] = running(world);
  await checkLog(context);
  use(here);

  assert.equal(await listed(world, 'shop'), ['held', 'v2']);
  assert.equal(await listed(world, 'blog'), ['blocked']);
  assert.is(await fetched(world, 'shop'), 'shop: on hold: v3 was rolled back');
  assert.is(await fetched(world, 'blog'), 'blog: deploy blocked, same commit failed 3 times');
  assert.equal(running(world), [before]);
  await checkDelivered(context, 'queued-by-old');

  const back = await runOn(world, 'runner-rollback', 'shop');
  assert.match(back.stdout, /^Rolled back shop from v2 to v1 /, back.stderr);
  assert.match(await fetched(world, 'shop'), /^shop: on hold: /);
  assert.equal(
    running(world).map(({ version }) => version),
    ['v1'],
  );

  // Killed by the upgrade.
  await world.push('v4', { deploy: GOOD(world) });
  use(old);
  await killDeploy(world);
  use(here);
  assert.is(await fetched(world, 'shop'), 'shop: deployed v4');
  assert.is(await world.page(), 'v4');
  assert.equal(
    running(world).map(({ version }) => version),
    ['v4'],
  );
  await checkLog(context);
  assert.ok(linesOf(world).some((line) => line.includes('dead0001')));
});

testOrSkip('0.1.0 goes on where this version was', async (context) => {
  const { world, old } = context;
  await world.push('v5', { deploy: GOOD(world) });
  assert.is(await fetched(world, 'shop'), 'shop: deployed v5');
  for (const from of ['v5', 'v4']) {
    const back = await runOn(world, 'runner-rollback', 'shop');
    assert.match(back.stdout, new RegExp(`^Rolled back shop from ${from} `), back.stderr);
  }
  await commitBlog(world, 'b2', BAD);
  assert.match(await fetched(world, 'blog'), /failed at build/);
  await queue(context, 'queued-by-new');
  await checkLog(context);
  const [before] = running(world);
  const text = readFileSync(join(world.root, 'state/shop.json'), 'utf8');
  assert.is((JSON.parse(text) as { version: number }).version, 1);
  use(old);

  assert.equal(await listed(world, 'shop'), ['held', before?.version]);
  assert.match(await fetched(world, 'shop'), /^shop: held/);
  assert.equal(running(world), [before]);
  await checkDelivered(context, 'queued-by-new');
  // Two more failures block it: the first one counts.
  for (const _ of [1, 2]) assert.match(await fetched(world, 'blog'), /failed at build/);
  assert.is(await fetched(world, 'blog'), 'blog: deploy blocked, same commit failed 3 times');

  await world.push('v6', { deploy: GOOD(world) });
  use(here);
  await killDeploy(world);
  use(old);
  assert.is(await fetched(world, 'shop'), 'shop: deployed v6');
  assert.equal(
    running(world).map(({ version }) => version),
    ['v6'],
  );
  await checkLog(context);
});

testOrSkip('and this version once more', async (context) => {
  const { world } = context;
  use(here);
  assert.equal(await listed(world, 'shop'), ['ok', 'v6']);
  assert.equal(await listed(world, 'blog'), ['blocked']);
  const back = await runOn(world, 'runner-rollback', 'shop');
  assert.match(back.stdout, /^Rolled back shop from v6 /, back.stderr);
  assert.match(await fetched(world, 'shop'), /^shop: on hold: v6 /);
  await checkLog(context);
});

test.run();
