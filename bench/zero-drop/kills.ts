/** kill -9 of deploys and recoveries, and restarts of the proxy in the middle of deploys. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { killedAfter, staged } from '@runner/testing/killing';
import { start } from '@runner/testing/run';
import { request } from '@runner/testing/traffic-proxy';
import { until } from '@runner/testing/until';
import { runningSlots } from '../../tests/traffic/world.ts';
import type { Place } from './place.ts';

/** Where commands are killed, in turn. */
const PHASES = ['start', 'switch', 'drain', 'recovery'] as const;
export type Killed = Record<(typeof PHASES)[number], number>;

const CALLS = ['openSync', 'mkdirSync', 'renameSync', 'unlinkSync', 'fdatasyncSync'];

/** The n-th of these calls of fs from a moment on. */
const nth = (moment: string, n: number) =>
  `${JSON.stringify(CALLS)}.includes(name) && !String(args[0]).startsWith('/proc') && (count > 0 || ${moment}) && ++count === ${n}`;

const RENAMED = `name === 'renameSync' && args[1].endsWith('/live')`;
const LOCKED = `String(args[0]).endsWith('/locks/shop.lock')`;

/** Kills commands at `points` places; the next command has to leave one version that all agree on. */
export async function killCommands(place: Place, points: number): Promise<Killed> {
  const { world, push, load } = place;
  const killed: Killed = { start: 0, switch: 0, drain: 0, recovery: 0 };
  for (let point = 0; point < points; point += 1) {
    const phase = PHASES[point % PHASES.length] as (typeof PHASES)[number];
    const n = Math.floor(point / PHASES.length) + 1;
    const isBad = phase === 'start' && n % 2 === 0;
    await push(`k${point}`, isBad ? 'unhealthy' : 'good');
    await load.order('deploy begins');
    if (await KILL[phase](place, n)) killed[phase] += 1;
    for (const _ of ['recovers', 'does nothing']) await world.runner('fetch', '--deploy');
    await load.order('deploy over');
    await mustAgree(place, `killed in ${phase}, ${n}`);
  }
  return killed;
}

const isKilled = ({ signal }: { signal: string | null }) => signal === 'SIGKILL';

const KILL: Record<keyof Killed, (place: Place, n: number) => Promise<boolean>> = {
  start: async ({ world }, n) =>
    isKilled(await world.deploy([], killedAfter(nth(staged('start'), 2 * n)))),
  switch: async ({ world }, n) =>
    isKilled(await world.deploy([], killedAfter(nth(staged('traffic'), n + 1)))),
  async drain({ world }, n) {
    const deploy = start('runner-deploy', ['shop'], { root: world.root, stdin: '' });
    const isDraining = () => world.state().deploying === null && world.instance().draining != null;
    let isOver = false;
    void deploy.done.then(() => {
      isOver = true;
    });
    await until(() => isOver || isDraining(), 'no drain');
    await new Promise((resolve) => setTimeout(resolve, 60 * n));
    deploy.kill('SIGKILL');
    return isKilled(await deploy.done);
  },
  async recovery({ world }, n) {
    const first = n % 2 === 0 ? staged('health') : RENAMED;
    if (!isKilled(await world.deploy([], killedAfter(first)))) return false;
    const env = killedAfter(nth(LOCKED, 2 + 3 * n));
    const { root } = world;
    return isKilled(await start('runner-fetch', ['--deploy'], { root, env, stdin: '' }).done);
  },
};

/** Restarts the proxy in the middle of deploys. */
export async function restartProxy(place: Place, deploys: number): Promise<void> {
  const { world, push, load, proxy } = place;
  for (let number = 1; number <= deploys; number += 1) {
    await push(`r${number}`, number % 5 === 0 ? 'unhealthy' : 'good');
    await load.order('deploy begins');
    const deploy = world.deploy();
    // Each at another moment of a deploy that takes about two seconds.
    await new Promise((resolve) => setTimeout(resolve, 100 * number));
    await load.order('proxy stops');
    await proxy.restart();
    await load.order('proxy runs');
    const { status, stderr } = await deploy;
    await load.order('deploy over');
    if ((status === 0) === (number % 5 === 0)) throw new Error(`r${number}: ${stderr}`);
    await mustAgree(place, `proxy restarted in r${number}`);
  }
}

/** One slot runs, and `live`, `status`, the state and the answer name the same version. */
async function mustAgree({ world, proxy }: Place, after: string): Promise<void> {
  await until(() => runningSlots(world).length === 1, `${after}: not one slot`);
  const live = world.live();
  const { current, draining, slots } = world.instance() as {
    current: { version: string };
    draining: unknown;
    slots: Record<string, { version: string } | null>;
  };
  const status = JSON.parse(
    (await world.runner('status', 'shop', '--offline', '--json')).stdout,
  ) as {
    instances: { current: { version: string } }[];
  };
  const release = readlinkSync(join(world.dir, String(live), 'current'));
  const seen = {
    slots: runningSlots(world).join(),
    live,
    state: current.version,
    slot: slots[String(live)]?.version,
    status: status.instances[0]?.current.version,
    answer: (await request(proxy.port)).version,
    release,
    draining: draining ?? null,
    deploying: world.state().deploying,
  };
  const versions = new Set([seen.state, seen.slot, seen.status, seen.answer]);
  const isWell = seen.slots === live && versions.size === 1 && !seen.draining && !seen.deploying;
  if (!isWell) throw new Error(`${after}: ${JSON.stringify(seen)}`);
}
