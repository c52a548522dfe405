/** A server with an app, a proxy in front of it, and a load through the proxy. */
import { readFileSync } from 'node:fs';
import { namesIn } from '@runner/common/files/read';
import {
  type Backend,
  PLAIN_SITES,
  placeFor,
  programOf,
  type RealProxy,
  type RealProxyName,
  startRealProxy,
} from '@runner/testing/real-proxy';
import type { Ended } from '@runner/testing/run';
import type { Manner } from '@runner/testing/traffic-app';
import { makeTrafficWorld, runningSlots, type TrafficWorld } from '../../tests/traffic/world.ts';
import { fileOf, filesOf, type Kind } from './app.ts';
import { type Counted, type Load, startLoad } from './load-control.ts';

/** Of the deploys: ms until one version was left, and resident memory in MB with two and with one. */
export interface Memory {
  after: number;
  two: number;
  one: number;
}

export interface Place {
  readonly world: TrafficWorld;
  readonly proxy: RealProxy;
  readonly load: Load;
  readonly memory: Memory;
  push(version: string, manner?: Manner): Promise<void>;
  /** Pushes a version and deploys it under the eyes of the load. */
  ship(version: string, manner?: Manner): Promise<Ended>;
}

export interface Setting {
  readonly proxy: RealProxyName;
  readonly rate: number;
  readonly kind?: Kind;
  /** The section `traffic`, or what stands in its place, given the path of the proxy's configuration. */
  readonly traffic: (proxy?: RealProxy) => string;
  /** Where the proxy sends requests at first. */
  readonly backend?: (world: TrafficWorld) => Backend;
}

/** Runs the body under load and returns what the load saw; undefined without that proxy. */
export async function underLoad(
  { proxy: name, rate, kind = 'rude', traffic, backend }: Setting,
  body: (place: Place) => Promise<void>,
): Promise<{ counted: Counted; memory: Memory } | undefined> {
  if (programOf(name) === undefined) return undefined;
  const world = await makeTrafficWorld();
  const memory = { after: 0, two: 0, one: 0 };
  const push = async (version: string, manner: Manner = 'good', proxy?: RealProxy) => {
    const files = filesOf(kind, version, manner);
    await world.push(version, { deploy: fileOf(kind, manner, traffic(proxy)), files });
  };
  try {
    await push('v0');
    const first = await world.deploy();
    if (first.status !== 0) throw new Error(first.stderr);
    const to = backend ? backend(world) : { socket: `${world.dir}/live/app.sock` };
    const proxy = await startRealProxy(name, PLAIN_SITES[name](to), await placeFor(name));
    const load = await startLoad(proxy.port, rate, world.dir);
    try {
      await body({
        world,
        proxy,
        load,
        memory,
        push: (version, manner) => push(version, manner, proxy),
        async ship(version, manner) {
          await push(version, manner, proxy);
          await load.order('deploy begins');
          const sampling = setInterval(() => {
            memory.two = Math.max(memory.two, residentMemory(world));
          }, 500);
          const done = await world.deploy();
          await load.order('deploy over');
          clearInterval(sampling);
          await noteMemory(world, memory);
          return done;
        },
      });
      return { counted: await load.end(), memory };
    } finally {
      proxy.close();
    }
  } finally {
    await world.close();
  }
}

async function noteMemory(world: TrafficWorld, memory: Memory): Promise<void> {
  const from = performance.now();
  while (runningSlots(world).length > 1 && performance.now() - from < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 20));
  memory.after = Math.max(memory.after, performance.now() - from);
  memory.one = Math.max(memory.one, residentMemory(world));
}

/** Of the processes of an app, in MB. */
function residentMemory({ root }: TrafficWorld): number {
  const pages = namesIn('/proc').map((pid) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      const isOurs =
        environment.includes(`\0RUNNER_ROOT=${root}`) || environment.includes(`=${root}/apps`);
      if (!isOurs || !environment.includes('RUNNER_SLOT=')) return 0;
      return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    } catch {
      return 0; // It is not a process, or has ended.
    }
  });
  return (pages.reduce((sum, each) => sum + each, 0) * 4096) / 2 ** 20;
}
