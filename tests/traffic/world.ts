/** A server with the app `shop`, its proxy, and a load through it. */
import { existsSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runningPid } from '@runner/common/files/process';
import { type Ended, run } from '@runner/testing/run';
import { impatientFile, type Manner, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyRoute, startProxy } from '@runner/testing/traffic-proxy';
import { makeWorld, type World } from '../deploys/world.ts';

export interface TrafficWorld extends World {
  readonly proxy: ProxyRoute;
  /** Folder of the instance `default`. */
  readonly dir: string;
  /** Pushes a version with a way to behave, and deploys it. */
  ship(version: string, manner?: Manner, more?: string): Promise<Ended>;
  /** The state of the instance `default`. */
  instance(): Record<string, unknown>;
  live(): string | null;
  runner(tool: string, ...args: string[]): Promise<Ended>;
  runnerWith(env: Record<string, string>, tool: string, ...args: string[]): Promise<Ended>;
}

export async function makeTrafficWorld(): Promise<TrafficWorld> {
  const world = await makeWorld({ parent: '/tmp' });
  const dir = join(world.root, 'apps/shop/instances/default');
  const proxy = await startProxy(() => ({ socketPath: join(dir, 'live/app.sock') }));
  return {
    ...world,
    proxy,
    dir,
    async ship(version, manner = 'good', more) {
      const deploy = manner === 'good' ? trafficFile(more) : impatientFile(more);
      await world.push(version, { deploy, files: trafficFiles(version, manner) });
      return world.deploy();
    },
    instance: () =>
      (world.state().instances as Record<string, Record<string, unknown>>).default ?? {},
    live: () => (existsSync(join(dir, 'live')) ? readlinkSync(join(dir, 'live')) : null),
    runner: (tool, ...args) => run(`runner-${tool}`, args, { root: world.root }),
    runnerWith: (env, tool, ...args) => run(`runner-${tool}`, args, { root: world.root, env }),
    async close() {
      proxy.close();
      await world.close();
    },
  };
}

/** The slots in which a process runs. */
export function runningSlots(world: TrafficWorld): string[] {
  return ['a', 'b'].filter((slot) => runningPid(join(world.dir, 'run', slot)) !== undefined);
}
