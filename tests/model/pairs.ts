/** Brings an app into a state, does something to it, and compares what can be seen with the table and with itself. */
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ContainerResult } from '@runner/testing/container-inside';
import type { GitServer } from '@runner/testing/git-server';
import { impatientFile, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import type { Guest, GuestApp } from './guest.ts';
import {
  databaseDifferences,
  databaseParts,
  killOnDatabase,
  killWhen,
  prepareDatabase,
} from './pairs-database.ts';
import { type Expected, expected, type PairState } from './pairs-table.ts';
import { TOKEN } from './subject.ts';
import { differencesOf } from './whole-view.ts';

/** An app of the guest, and what is done with it. */
export interface PairApp extends GuestApp {
  readonly state: PairState;
  /** A word of the table, or `kill` and such a word. */
  readonly operation: string;
  /** Seconds until a kill. */
  readonly moment: number;
}

/** The guest and the code host. */
export interface PairWorld {
  readonly guest: Guest;
  readonly git: GitServer;
}

const instanceOf = (env: object) => `instances: { default: { env: ${JSON.stringify(env)} } }\n`;

/** Pushes a version; `plain`: without traffic. */
async function push(world: PairWorld, app: PairApp, version: string, how: string[] = []) {
  const { name, driver, ports } = app;
  const [isBad, isPlain] = [how.includes('bad'), how.includes('plain') || !app.hasTraffic];
  const [port, ...slots] = ports;
  const database = databaseParts(app, app.state, version);
  const drain = app.state === 'draining' ? '30s' : '300ms';
  const type = driver === 'compose' ? `ports, ports: [${slots}]` : 'socket';
  const more = isPlain
    ? instanceOf({ PORT: String(port), ...database.env })
    : `${database.env ? instanceOf(database.env) : ''}traffic: { type: ${type}, drain: ${drain} }\n`;
  const watch = app.state === 'watched' ? 'watch: 10m\n' : '';
  const file = (isBad ? impatientFile : trafficFile)(more);
  const starts = {
    process: 'start: { type: process, run: exec node server.js, stop_timeout: 2s }',
    systemd: `start: { type: systemd, unit: ${name}@.service }`,
    compose: 'start: { type: compose }',
  };
  const files = trafficFiles(version, isBad ? 'unhealthy' : 'good');
  const guard = `if (require('node:fs').existsSync('/srv/broken-${name}')) throw new Error('no disk');\n`;
  await world.git.commit(
    `acme/${name}`,
    {
      ...files,
      ...database.files,
      'server.js': guard + files['server.js'],
      'compose.yaml': 'services: { web: { build: ., ports: ["127.0.0.1:${PORT}:3000"] } }\n',
      '.deploy.yml': `${file.replace(/^start: .*$/m, starts[driver])}keep: 3\n${watch}${database.more}`,
    },
    version,
    { tag: version },
  );
}

/** What a command of the table does; `NAME` stands for the app. */
const COMMANDS: Readonly<Record<string, string>> = {
  deploy: 'runner-deploy NAME',
  bad: 'runner-deploy NAME',
  fetch: 'runner-fetch NAME --deploy',
  rollback: 'runner-rollback NAME',
  restart: 'runner-restart NAME',
  'env-restart': 'runner-env set NAME DATABASE --file - --restart',
  start: 'runner-start NAME',
  stop: 'runner-stop NAME',
  remove: 'runner-remove NAME --yes',
  migrated: 'runner-deploy NAME --migrated yes',
};

const commandOf = (operation: string, { name }: PairApp) =>
  (COMMANDS[operation] ?? operation).replace('NAME', name);

function act({ guest }: PairWorld, app: PairApp, operation: string): Promise<ContainerResult> {
  return guest.sh(app.root, commandOf(operation, app), 'postgres://u:s3cret@db/x');
}

/** Does what must succeed while an app is brought into its state. */
async function must(world: PairWorld, app: PairApp, operation: string, status = 0): Promise<void> {
  const done = await act(world, app, operation);
  if (done.status !== status)
    throw new Error(`${operation}: status ${done.status}\n${done.stdout}${done.stderr}`);
}

/** Kills a deploy while the version before finishes a request. */
async function drainAndKill(world: PairWorld, app: PairApp): Promise<void> {
  const { guest } = world;
  const at = guest.outside(`${app.root}/apps/${app.name}/instances/default/live`);
  const port = app.ports.slice(1).find((each) => guest.exists(join(at, String(each))));
  const where = port ? { host: '127.0.0.1', port } : { socketPath: join(at, 'app.sock') };
  const request = get({ ...where, path: '/stream', agent: false }, (response) => response.resume());
  request.on('error', () => {});
  const isDraining = () => {
    const { deploying, instances } = guest.state(app);
    return !deploying && instances.default?.draining;
  };
  await killWhen(guest, app, `runner-deploy ${app.name}`, {
    isThere: () => Boolean(isDraining()),
    release: () => void setTimeout(4_000).then(() => request.destroy()),
  });
}

/** Registers the app and brings it into its state, but `restored`, which whole servers are. */
export async function prepare(world: PairWorld, app: PairApp): Promise<void> {
  const { guest, git } = world;
  const { name, root, state } = app;
  await git.createRepo(`acme/${name}`);
  const add = `runner add --repo acme/${name} --name ${name} --branch main --token -`;
  const added = await guest.sh(root, add, TOKEN);
  if (added.status !== 0) throw new Error(added.stderr);
  await prepareDatabase(guest, app, state);
  await push(world, app, 'v1', state === 'before-traffic' ? ['plain'] : []);
  await must(world, app, 'deploy');
  await push(world, app, 'v2');
  if (state === 'draining') return drainAndKill(world, app);
  await must(world, app, 'deploy');
  if (state === 'stopped') await must(world, app, 'stop');
  if (state === 'paused') await must(world, app, 'runner-pause NAME');
  if (state === 'held') await must(world, app, 'rollback');
  if (state === 'blocked' || state === 'broken') await push(world, app, 'v3', ['bad']);
  for (let times = 0; state === 'blocked' && times < 3; times += 1)
    await must(world, app, 'fetch', 1);
  if (state === 'migrating') await push(world, app, 'v3');
  if (state === 'migrating' || state === 'restoring') return killOnDatabase(guest, app, state);
  if (state !== 'broken') return;
  await guest.sh(root, `touch /srv/broken-${name}`);
  const done = await act(world, app, 'deploy');
  await guest.sh(root, `rm /srv/broken-${name}`);
  if (done.status !== 3) throw new Error(`not broken: ${done.status} ${done.stderr}`);
}

/** Does the operation to the app; the server's own are done by the caller. */
export async function operate(world: PairWorld, app: PairApp): Promise<ContainerResult> {
  const { operation, state, root, name } = app;
  const next = ['blocked', 'broken', 'migrating'].includes(state) ? 'v4' : 'v3';
  const kind = operation.replace('kill ', '');
  if (['deploy', 'fetch', 'migrated'].includes(kind)) await push(world, app, next);
  if (kind === 'bad') await push(world, app, next, ['bad']);
  if (kind === operation) return act(world, app, kind);
  const killed = `timeout --foreground -s KILL ${app.moment} ${commandOf(kind, app)}`;
  await world.guest.sh(root, killed, 'postgres://u:s3cret@db/x');
  const isThere = world.guest.exists(world.guest.outside(`${root}/state/${name}.json`));
  if (kind === 'remove' || !isThere) return act(world, app, 'remove');
  // What was killed is cleaned up by the next command; this one deploys nothing.
  const cleaned = await act(world, app, `runner-deploy NAME --force --ref nothing`);
  return { ...cleaned, status: 0 };
}

/** What is not as the table says, and what disagrees with itself, in words. */
export async function judge(
  world: PairWorld,
  app: PairApp,
  { status, stdout, stderr }: ContainerResult,
): Promise<string[]> {
  const { guest } = world;
  const { name, root, state, operation } = app;
  const found: string[] = [];
  const printed = `${stdout}${stderr}`.trim();
  if (/this is a bug|TypeError/.test(printed)) found.push('a bug is reported');
  const [kill, kind = operation] = operation.startsWith('kill ') ? operation.split(' ') : [];
  const wanted = expected(state, kind);
  if (!kill && (status !== 0) !== wanted.isRefused) found.push(`status ${status}`);
  await drained(guest, app);
  const listed = (await guest.listed(root)).find((each) => each.app === name);
  const served = await guest.served(app);
  if (wanted.word === 'gone') {
    if (listed) found.push('it is listed');
    if (served !== null || guest.processes(app).length > 0) found.push('it runs');
  } else if (listed) {
    const ends: Expected[] = kill ? [wanted, expected(state, 'nothing')] : [wanted];
    const words = [...ends.map(({ word }) => word), ...(kill ? ['failing', 'interrupted'] : [])];
    if (!ends.some((each) => each.served === served)) found.push(`served: ${served}`);
    if (!words.includes(listed.state)) found.push(`list: ${listed.state}`);
    const seen = {
      root: guest.outside(root),
      state: () => guest.state(app),
      served: async () => served,
      processes: () => guest.processes(app),
      crashed: new Set<string>(),
    };
    found.push(...(await databaseDifferences(guest, app, state)));
    found.push(...(await differencesOf(seen, name, listed, guest.log(root))));
  } else found.push('it is not listed');
  return found.length > 0 ? [...found, `printed: ${printed}`] : [];
}

/** A drain that a killed command has left ends with the next command. */
async function drained(guest: Guest, app: PairApp): Promise<void> {
  const isThere = () => guest.exists(guest.outside(`${app.root}/state/${app.name}.json`));
  for (let times = 0; times < 80 && isThere(); times += 1) {
    const { watch, instances } = guest.state(app);
    if (watch || !instances.default?.draining) return;
    await setTimeout(100);
  }
}
