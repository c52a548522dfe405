/** A driver as a deploy uses it, to be asked for its status by the tests of the contract. */
import { join } from 'node:path';
import { readDeployFile } from '@runner/common/deploy-file/read';
import { pathsOf } from '@runner/common/foundation/paths';
import { askNow } from '@runner/deploy/instances/drivers/ask';
import { driverFor } from '@runner/deploy/instances/drivers/choose';
import { run, shellWord } from '@runner/testing/run';
import { makeWorld, type World } from '../../../../tests/deploys/world.ts';
import type { Place } from './contract.ts';

/** What the driver of a `.deploy.yml` says of an instance of `shop` under a root. */
export function statusOf(
  root: string,
  deployFile: string,
  env: Readonly<Record<string, string>>,
): string {
  const { start, instances } = readDeployFile(Buffer.from(deployFile));
  const [instance] = instances;
  if (instance === undefined) throw new Error('no instance');
  const paths = pathsOf(root).app('shop').instance(instance.name);
  const outerEnv = { PATH: process.env.PATH ?? '', ...env };
  const asked = driverFor(start).status({
    app: 'shop',
    instance,
    release: root,
    slot: undefined,
    paths,
    start,
    env: outerEnv,
    outerEnv,
    confine: () => undefined,
  });
  return askNow(asked);
}

/** The newest error in a root's audit log. */
export function newestError(events: readonly Record<string, unknown>[]): string {
  return String(events.filter(({ error }) => error !== undefined).at(-1)?.error);
}

/** A place on this machine; `start` gets the world and the folder of its programs. */
export async function placeHere(
  start: (world: World) => string,
  env: (world: World) => Record<string, string>,
  close: (world: World) => Promise<void> = async () => {},
): Promise<Place> {
  const world = await makeWorld();
  const { root, port, git } = world;
  const deployFile = `instances: { default: { env: { PORT: "${port}" } } }\n${start(world)}\n`;
  return {
    git,
    port,
    deployFile,
    deploy: () => world.deploy([], env(world)),
    remove: () => run('runner-remove', ['shop', '--yes'], { root, env: env(world) }),
    lastError: async () => newestError(world.events()),
    status: async () => statusOf(root, deployFile, env(world)),
    async close() {
      await close(world);
      await world.close();
    },
  };
}

/**
 * A small supervisor as a shell script, `sh FILE start|stop|status`, for drivers whose own would not
 * fit into a test: it starts `server.js` of the current folder.
 */
export function supervisor(folder: string): string {
  const at = (name: string) => shellWord(join(folder, name));
  return `#!/bin/sh
stop() { [ ! -f ${at('pid')} ] || kill "$(cat ${at('pid')})" 2>/dev/null; rm -f ${at('pid')}; }
case $* in
  *' up '* | start)
    stop
    setsid node server.js >${at('output')} 2>&1 </dev/null &
    echo $! >${at('pid')}
    while kill -0 "$(cat ${at('pid')})" 2>/dev/null && ! grep -q listens ${at('output')}; do sleep 0.05; done
    kill -0 "$(cat ${at('pid')})" 2>/dev/null || { cat ${at('output')}; exit 1; }
    ;;
  *' down '* | stop) stop ;;
  *' ps '*) ! kill -0 "$(cat ${at('pid')} 2>/dev/null)" 2>/dev/null || echo c0ffee ;;
  *' logs '*) cat ${at('output')} ;;
esac
exit 0
`;
}
