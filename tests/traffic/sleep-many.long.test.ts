/** Many sleeping apps behind one nginx: how long waking takes, what it costs, and that no request is lost. */
import { spawn } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { atExit } from '@runner/testing/cleanup';
import { placeFor, programOf, type RealProxy, startRealProxy } from '@runner/testing/real-proxy';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, TOKEN, type World } from '../deploys/world.ts';
import {
  type Activator,
  activateWaker,
  addParent,
  askHost,
  fetch,
  markPreview,
  sleepyFiles,
} from './sleep-world.ts';

/** Apps, of which nine in ten sleep. */
const COUNT = Number(process.env.WAKE_COUNT ?? 10);
/** How long the load lasts, in seconds. */
const LOAD = Number(process.env.WAKE_LOAD ?? 20);
/** The app's own start where nothing else runs, in milliseconds. */
const USUAL_START = 100;

const names = Array.from({ length: COUNT }, (_, at) => `web-${at}`);
const hostOf = (app: string) => `pr-${app.slice(4)}.preview.example.org`;

const test = suite<{ world: World; waker: Activator; nginx: RealProxy | undefined }>('many asleep');

async function addApp({ root, git }: World, app: string): Promise<void> {
  const repo = `acme/${app}`;
  await git.createRepo(repo);
  await git.commit(repo, sleepyFiles(hostOf(app), 'v0'), 'v0', { tag: 'v0' });
  const args = ['--repo', repo, '--branch', 'main', '--name', app, '--token', '-'];
  const added = await run('runner-add', args, { root, stdin: TOKEN });
  assert.is(added.status, 0, added.stderr);
  const done = await run('runner-deploy', [app, '--no-notify'], { root });
  assert.is(done.status, 0, done.stderr);
  atExit(() => killApp(root, app));
}

/** The wildcard site: the host names the app. */
async function wildcard(root: string): Promise<RealProxy | undefined> {
  if (programOf('nginx') === undefined) return undefined;
  const live = `${root}/apps/web-$preview/instances/default/live/app.sock`;
  const site = `map $host $preview { "~^pr-(?<name>[0-9]+)\\." $name; }
# In server:
location / { proxy_pass http://unix:${live}:; proxy_set_header Host $host; proxy_http_version 1.1; }
`;
  return startRealProxy('nginx', site, await placeFor('nginx'));
}

test.before(async (context) => {
  const world = await makeWorld({ parent: '/tmp' });
  await run('runner-remove', ['shop', '--yes'], { root: world.root });
  for (const app of names) await addApp(world, app);
  await addParent(world.root);
  const waker = await activateWaker(world.root);
  const nginx = await wildcard(world.root);
  Object.assign(context, { world, waker, nginx });
});
test.after(async ({ world, waker, nginx }) => {
  nginx?.close();
  waker.close();
  for (const app of names) killApp(world.root, app);
  await world.close();
});

const liveOf = (root: string, app: string) =>
  readlinkSync(join(root, 'apps', app, 'instances/default/live'));

async function allAsleep(root: string, apps: readonly string[]): Promise<void> {
  for (const app of apps) markPreview(root, app, { sleep_after: '0s' });
  await sleep(100);
  const { stderr } = await fetch(root, ...apps);
  for (const app of apps) assert.match(liveOf(root, app), /asleep/, stderr);
  for (const app of apps) markPreview(root, app, { sleep_after: '15m' });
}

/** The time from the start of the app alone until it answers, in milliseconds. */
async function ownStart(root: string, app: string): Promise<number> {
  const folder = temporaryFolder('own', '/tmp');
  const socketPath = join(folder, 'app.sock');
  const program = join(root, 'apps', app, 'instances/default/a/current/server.js');
  const env = { PORT: socketPath, RUNNER_SHARED: folder };
  const began = performance.now();
  const child = spawn(process.execPath, [program], { env, stdio: 'ignore' });
  await until(async () => (await askHost({ socketPath }, 'x')).status === 200, 'no start');
  const took = performance.now() - began;
  child.kill('SIGKILL');
  return took;
}

function quantile(times: readonly number[], share: number): number {
  return Math.round([...times].sort((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? 0);
}

/** Memory that only this process has, and all of it, in MiB. */
function memoryOf(pid: number): { own: number; resident: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kb = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const own = kb('Private_Clean') + kb('Private_Dirty');
  return { own: Math.round(own / 1024), resident: Math.round(kb('Rss') / 1024) };
}

test('each of many is woken by its first request', async ({ world, waker, nginx }) => {
  const { root } = world;
  const asleep = names.slice(Math.floor(COUNT / 10));
  const own: number[] = [];
  for (const app of asleep.slice(0, 15)) own.push(await ownStart(root, app));
  await allAsleep(root, asleep);
  const times: number[] = [];
  const second: number[] = [];
  for (const [at, app] of asleep.entries()) {
    const socketPath = join(root, 'apps', app, 'instances/default/live/app.sock');
    const to = nginx && at % 2 === 0 ? nginx : { socketPath };
    const began = performance.now();
    const first = await askHost(to, hostOf(app), ['part one, ', 'part two']);
    times.push(performance.now() - began - 30);
    assert.equal([first.status, first.text], [200, 'part one, part two']);
    const then = performance.now();
    assert.is((await askHost(to, hostOf(app))).text, `${app} v0`);
    second.push(performance.now() - then);
  }
  const { own: mine, resident } = memoryOf(waker.pid() as number);
  const ms = (all: readonly number[]) => `${quantile(all, 0.5)}/${quantile(all, 0.95)} ms`;
  console.log(
    `(${asleep.length} wakes of ${COUNT} apps: first request ${ms(times)}, own start of the app ${ms(own)}, second request ${ms(second)}; the waker had ${resident} MiB, ${mine} of its own)`,
  );
  // On a machine that is busy with other things everything takes as much longer as the app's own start.
  const busy = Math.max(1, quantile(own, 0.5) / USUAL_START);
  assert.ok(quantile(times, 0.95) < 2_000 * busy + quantile(own, 0.95), `${times}`);
});

test('asked at once, all are woken', async ({ world, nginx }) => {
  const apps = names.slice(0, 20);
  await allAsleep(world.root, apps);
  const to = nginx ?? { socketPath: join(world.root, 'waker/app.sock') };
  const began = performance.now();
  const asked = apps.flatMap((app) => Array.from({ length: 5 }, () => askHost(to, hostOf(app))));
  const failed = (await Promise.all(asked)).filter(({ status }) => status !== 200);
  assert.equal(failed, []);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  console.log(`(${apps.length} apps, ${asked.length} requests at once: all within ${seconds} s)`);
});

test('falling asleep and waking under load loses no request', async ({ world, nginx }) => {
  const { root } = world;
  const apps = names.slice(0, 6);
  for (const app of apps) markPreview(root, app, { sleep_after: '0s' });
  const to = nginx ?? { socketPath: join(root, 'waker/app.sock') };
  const before = world.kinds().length;
  const failed: string[] = [];
  let requests = 0;
  let isOver = false;
  const client = async (app: string) => {
    while (!isOver) {
      const body = Math.random() < 0.3 ? ['a'.repeat(70_000), 'b'] : [];
      const { status, text } = await askHost(to, hostOf(app), body);
      requests += 1;
      const isWhole = body.length === 0 ? text === `${app} v0` : text === body.join('');
      if (status !== 200 || !isWhole) failed.push(`${app} ${status} ${text.slice(0, 60)}`);
      // Mostly busy, now and then long enough to fall asleep.
      await sleep(Math.random() < 0.02 ? 3_000 * Math.random() : 40 * Math.random());
    }
  };
  const clients = apps.map(client);
  const end = performance.now() + LOAD * 1_000;
  while (performance.now() < end) await fetch(root, ...apps);
  isOver = true;
  await Promise.all(clients);
  const kinds = world.kinds().slice(before);
  const count = (kind: string) => kinds.filter((each) => each === kind).length;
  console.log(
    `(${requests} requests, ${failed.length} lost; fell asleep ${count('AppStopped')} times, woken ${count('AppStarted')} times)`,
  );
  assert.equal(failed, []);
  assert.ok(count('AppStarted') > 0);
});

test.run();
