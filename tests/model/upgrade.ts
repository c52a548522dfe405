/** A server that is used by version 0.1.0 and by this one in turn, and what is looked at on it. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { killedAfter, staged } from '@runner/testing/killing';
import { processesIn } from '@runner/testing/processes';
import { type Ended, run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from '../deploys/world.ts';
import { buildOldVersion } from './old-version.ts';

const here = process.env.RUNNER_DIST;

/** From here on the executables of this folder are run; without one, those of this checkout. */
export function use(dist = here): void {
  if (dist === undefined) delete process.env.RUNNER_DIST;
  else process.env.RUNNER_DIST = dist;
}

export interface Context {
  readonly world: World;
  readonly chat: Discord;
  readonly old: string;
  /** Keys of all records that were ever in the log. */
  readonly records: Set<string>;
}

export const GOOD = (world: World) => deployFile(world.port, 'notify: {}\n');
export const BAD = 'build: "echo no such module; exit 1"\n';

export async function runOn({ root }: World, tool: string, ...args: string[]): Promise<Ended> {
  const ended = await run(tool, args, { root });
  assert.ok(ended.status !== null && ended.status < 3, ended.stderr);
  return ended;
}

export const fetched = async (world: World, app: string) =>
  (await runOn(world, 'runner-fetch', '--deploy', app)).stdout.trimEnd();

export const commitBlog = (world: World, version: string, deploy: string) =>
  world.git.commit('acme/blog', { '.deploy.yml': deploy, version }, version, { tag: version });

/** The processes of the app, each with its version: there must be one. */
export function running({ root }: World): { pid: number; version: string }[] {
  return processesIn(root)
    .filter(({ command }) => command.includes('server.js'))
    .map(({ pid }) => ({ pid, version: readFileSync(`/proc/${pid}/cwd/VERSION`, 'utf8').trim() }));
}

/** The lines of the log and of its rotated files. */
export function linesOf({ root }: World): string[] {
  const logs = join(root, 'logs');
  return readdirSync(logs)
    .filter((name) => name.startsWith('deploy-events.jsonl'))
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n').filter(Boolean));
}

/**
 * What was recorded is still there, and the log is sound to the version that is in use. 0.1.0 takes the
 * records of several instances, which have one deploy_id, for doubled ones.
 */
export async function checkLog({ world, records, old }: Context): Promise<void> {
  const lines = new Set(linesOf(world));
  assert.equal(
    [...records].filter((line) => !lines.has(line)),
    [],
  );
  for (const line of lines) records.add(line);
  const verified = await runOn(world, 'runner-audit', 'verify');
  if (verified.status === 0) return;
  // What 0.1.0 appended after the chain had begun is not in it.
  const other = verified.stdout
    .split('\n')
    .filter((line) => /:\d+: /.test(line) && !line.endsWith(': the record is not in the chain'));
  if (other.length === 0) return;
  assert.is(process.env.RUNNER_DIST, old, `${verified.stdout}${verified.stderr}`);
  const problems = verified.stdout
    .split('\n')
    .filter((line) => / (DeployStarted|end)\b/.test(line));
  const pairs = [...lines].filter((line) => line.includes('"project":"pair"'));
  for (const line of problems) {
    const [id = ''] = /\b[0-9a-f]{8}\b/.exec(line) ?? [];
    assert.ok(id !== '' && pairs.some((pair) => pair.includes(id)), verified.stdout);
  }
}

/** Queues a message while the chat is away. */
export async function queue({ world, chat }: Context, version: string): Promise<void> {
  chat.fail('drop', Number.POSITIVE_INFINITY);
  const record = { event_type: 'DeploySuccess', project: 'shop', instance: 'default', version };
  const stdin = `${JSON.stringify({ ...record, timestamp: new Date().toISOString(), deploy_id: 'a1b2c3d4' })}\n`;
  const sent = await run('runner-notify', ['send', '--wait', '0'], { root: world.root, stdin });
  assert.is(sent.status, 0, sent.stderr);
  chat.heal();
}

/** The messages that the version in use delivers. */
export async function checkDelivered({ world, chat }: Context, version: string): Promise<void> {
  rmSync(join(world.root, 'spool/notify/discord.json'), { force: true });
  const flushed = await runOn(world, 'runner-notify', 'flush', '--now');
  assert.is(flushed.status, 0, flushed.stderr);
  const delivered = chat.messages.filter(({ payload }) =>
    JSON.stringify(payload).includes(version),
  );
  assert.is(delivered.length, 1, version);
}

/** What `list` says of an app: its state, and what its instance runs. */
export async function listed(world: World, app: string): Promise<unknown[]> {
  const { stdout } = await runOn(world, 'runner-list', '--json');
  const { apps } = JSON.parse(stdout) as {
    apps: { app: string; state: string; instances: { current: { version: string } | null }[] }[];
  };
  const found = apps.find((each) => each.app === app);
  return [found?.state, ...(found?.instances ?? []).map(({ current }) => current?.version)];
}

/** A deploy by the version in use that is killed while it starts the new version. */
export async function killDeploy(world: World): Promise<void> {
  const killed = await world.deploy([], killedAfter(staged('start')));
  assert.is(killed.signal, 'SIGKILL', killed.stderr);
}

/** A server on which 0.1.0 has deployed, failed, rolled back, queued and rotated. */
export async function makeOldServer(): Promise<Context> {
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
    await world.launch(version, { deploy: GOOD(world) });
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
    timestamp: new Date().toISOString(),
    event_type: 'RollbackSuccess',
    project: 'shop',
    instance: 'default',
    version: 'v2',
    from_version: 'v3',
    reason: 'kept',
    deploy_id: 'dead0001',
  };
  const name = '20261101093000000-dead0001-RollbackSuccess.jsonl';
  writeFileSync(join(kept, name), `${JSON.stringify(event)}\n`, { mode: 0o600 });
  return context;
}

/** Two instances without a process. */
export const PAIR = 'instances: { api: {}, web: {} }\nstart: { type: none }\n';

/** What this version records beyond 0.1.0: two instances, a fetch that failed, an app that was down. */
export async function recordMore({ world }: Context): Promise<void> {
  await world.git.createRepo('acme/pair');
  await runOn(
    world,
    'runner-add',
    '--repo',
    'acme/pair',
    '--branch',
    'main',
    '--token-from',
    'shop',
  );
  await world.git.commit('acme/pair', { '.deploy.yml': PAIR }, 'p1', { tag: 'p1' });
  assert.is(await fetched(world, 'pair'), 'pair: deployed p1');
  world.git.fail('drop', Number.POSITIVE_INFINITY);
  assert.match(await fetched(world, 'pair'), /^pair: network error/);
  world.git.heal();
  assert.is(await fetched(world, 'pair'), 'pair: up to date');
  for (const { pid } of running(world)) process.kill(pid, 'SIGKILL');
  await until(() => running(world).length === 0, 'the app goes on');
  assert.match(await fetched(world, 'shop'), /down/);
  const again = await runOn(world, 'runner-deploy', 'shop');
  assert.is(again.status, 0, again.stderr);
  assert.is(await fetched(world, 'shop'), 'shop: up to date');
}
