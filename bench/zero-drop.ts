/**
 * `npm run bench -- zero-drop`: deploys under load through nginx, Caddy and HAProxy; every fifth version
 * is unhealthy. No request may fail with `traffic`; without it, and with a reload of nginx, some do: the
 * controls. `--deploys N` (default 100 each), `--rate N` requests a second (default 200), `--proxy NAME`.
 */

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { freePort } from '@runner/testing/app';
import { trafficFiles } from '@runner/testing/traffic-app';
import { deployFile } from '../tests/deploys/world.ts';
import { makeTrafficWorld, type TrafficWorld } from '../tests/traffic/world.ts';
import { type Counted, startLoad } from './harness/load.ts';
import { type Backend, type ProxyName, type RunningProxy, startProxy } from './harness/proxies.ts';

const { values } = parseArgs({
  options: {
    deploys: { type: 'string', default: '100' },
    rate: { type: 'string', default: '200' },
    proxy: { type: 'string' },
  },
});
const deploys = Number(values.deploys);
const rate = Number(values.rate);
const say = (text: string) => process.stdout.write(`${text}\n`);

const SOCKET = 'traffic: { type: socket, drain: 33s }\n';

/** Deploys again and again; every fifth version is refused. */
async function deployAll(ship: (version: string, isBad: boolean) => Promise<number | null>) {
  for (let number = 1; number <= deploys; number += 1) {
    const isBad = number % 5 === 0;
    const status = await ship(`v${number}`, isBad);
    if ((status === 0) === isBad) throw new Error(`deploy of v${number} ended with ${status}`);
  }
}

/** Runs one row: the proxy in front of a world that deploys. */
async function row(
  name: ProxyName,
  what: string,
  prepare: (world: TrafficWorld) => Promise<Backend>,
  ship: (
    world: TrafficWorld,
    version: string,
    isBad: boolean,
    proxy: RunningProxy,
  ) => Promise<number | null>,
): Promise<Counted | undefined> {
  const world = await makeTrafficWorld();
  try {
    const backend = await prepare(world);
    const proxy = await startProxy(name, backend);
    if (!proxy) {
      say(`| ${name} | ${what} | not available: neither installed nor downloaded |`);
      return undefined;
    }
    const load = startLoad(proxy.port, rate);
    await deployAll((version, isBad) => ship(world, version, isBad, proxy));
    const counted = await load.end();
    proxy.close();
    const { requests, failed, p99, versions, words } = counted;
    say(
      `| ${name} | ${what} | ${deploys} | ${requests} | **${failed}** | ${p99.toFixed(1)} | ${versions.size} |`,
    );
    for (const line of words) say(`  ${line}`);
    return counted;
  } finally {
    await world.close();
  }
}

async function withTraffic(name: ProxyName): Promise<Counted | undefined> {
  return row(
    name,
    'traffic: socket',
    async (world) => {
      await world.ship('v0', 'good', SOCKET);
      return { socket: `${world.dir}/live/app.sock` };
    },
    async (world, version, isBad) =>
      (await world.ship(version, isBad ? 'unhealthy' : 'good', SOCKET)).status,
  );
}

/** The control: one version is stopped before the next one starts. */
async function withoutTraffic(): Promise<Counted | undefined> {
  const push = (world: TrafficWorld, version: string, isBad: boolean) =>
    world.push(version, {
      deploy: deployFile(world.port).replace(
        'within: 60s',
        isBad ? 'within: 600ms' : 'within: 20s',
      ),
      files: trafficFiles(version, isBad ? 'unhealthy' : 'good'),
    });
  return row(
    'haproxy',
    'control: no traffic',
    async (world) => {
      await push(world, 'v0', false);
      await world.deploy();
      return { port: world.port };
    },
    async (world, version, isBad) => {
      await push(world, version, isBad);
      return (await world.deploy()).status;
    },
  );
}

/** The control: nginx reads its configuration again, and the old version is not waited for. */
async function withReload(): Promise<Counted | undefined> {
  const ports = [await freePort(), await freePort()];
  const traffic = (run: string) =>
    `traffic: { type: command, ports: [${ports.join(', ')}], run: "${run}", drain: 1ms }\n`;
  return row(
    'nginx',
    'control: nginx -s reload',
    async (world) => {
      await world.ship('v0', 'good', traffic('true'));
      return { port: ports[0] as number };
    },
    async (world, version, isBad, { pid, config }) => {
      const script = `${config}.sh`;
      const edit = `sed -i "s/127.0.0.1:[0-9]*; #to/127.0.0.1:$PORT; #to/" '${config}'`;
      writeFileSync(script, `${edit} && kill -HUP ${pid}\n`);
      const point = `sh ${script}`;
      const status = await world.ship(version, isBad ? 'unhealthy' : 'good', traffic(point));
      return status.status;
    },
  );
}

async function main(): Promise<void> {
  say(`# Deploys under load: ${deploys} each, about ${rate} requests a second\n`);
  say(
    '| proxy | way | deploys | requests | failed | p99 ms | versions seen |\n|---|---|---|---|---|---|---|',
  );
  const names = (['nginx', 'caddy', 'haproxy'] as const).filter(
    (name) => values.proxy === undefined || values.proxy === name,
  );
  const rows: (Counted | undefined)[] = [];
  for (const name of names) rows.push(await withTraffic(name));
  const controls = [await withoutTraffic(), await withReload()];
  const lost = rows.reduce((sum, each) => sum + (each?.failed ?? 0), 0);
  say(`\nwith traffic ${lost} requests failed`);
  // A harness that cannot fail proves nothing.
  const provesNothing = controls.some((control) => control?.failed === 0);
  process.exitCode = lost === 0 && !provesNothing ? 0 : 1;
}

void main();
