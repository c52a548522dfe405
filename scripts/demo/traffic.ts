/** The last part of the story: an app with `traffic`, under load while it is deployed. */
import { join } from 'node:path';
import { impatientFile, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { startLoad, startProxy } from '@runner/testing/traffic-proxy';
import { expect, say, show, type } from './narration.ts';
import { type Stage, TRAFFIC_REPO } from './stage.ts';

/** Deploys a version and one that never becomes healthy, and counts the requests that failed. */
export async function tellOfTraffic({ root, git }: Stage): Promise<void> {
  const run = (command: string, wanted = 0) => type(command, root, wanted);
  const push = (version: string, isHealthy: boolean) => {
    const deploy = isHealthy ? trafficFile() : impatientFile();
    const files = trafficFiles(version, isHealthy ? 'good' : 'unhealthy');
    return git.commit(TRAFFIC_REPO, { ...files, '.deploy.yml': deploy }, version, { tag: version });
  };
  say('Another app has `traffic: socket`: a proxy dials what its link `live` names.');
  await push('v1', true);
  await run(`runner add --repo ${TRAFFIC_REPO} --branch main --token-from shop`);
  await run('runner deploy cart --no-notify');
  const socketPath = join(root, 'apps/cart/instances/default/live/app.sock');
  const proxy = await startProxy(() => ({ socketPath }));
  const load = startLoad(proxy.port);
  try {
    say('Under load: v2 replaces it, and v3 never becomes healthy.');
    await push('v2', true);
    await run('runner deploy cart --no-notify');
    await push('v3', false);
    await run('runner deploy cart --no-notify', 1);
  } finally {
    const { requests, failed, versions } = await load.end();
    proxy.close();
    show(
      `\n${requests} requests meanwhile, ${failed.length} failed; answered by ${versions.join(' and ')}`,
    );
    expect(failed.length === 0 && versions.join() === 'v1,v2', 'no request is lost');
  }
}
