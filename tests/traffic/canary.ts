/** What the short and the long tests of canary share. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { killApp } from '@runner/testing/app';
import { start } from '@runner/testing/run';
import { type Manner, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { type ProxyRoute, request, startProxy } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

export const CANARY =
  'traffic: { type: socket, drain: 500ms }\nwatch: { for: 10s, logs: false }\ncanary: [5%, 25%]\n';

export const nextOf = ({ dir }: TrafficWorld) => readlinkSync(join(dir, 'next'));

export const sharesOf = ({ dir }: TrafficWorld) =>
  Array.from({ length: 20 }, (_, at) =>
    readlinkSync(join(dir, 'share', String(at).padStart(2, '0'))),
  ).filter((target) => target === '../next').length;

/** Begins to deploy a version, with requests all the while, until it has the shares. */
export async function begin(world: TrafficWorld, version: string, manner: Manner = 'good') {
  const deploy = trafficFile(CANARY);
  await world.push(version, { deploy, files: trafficFiles(version, manner) });
  return start('runner-deploy', ['shop'], { root: world.root });
}

/** How many of 200 requests were answered by a version, in percent; and how many got no answer. */
export async function shareOf(port: number, version: string) {
  const answers = await Promise.all(Array.from({ length: 200 }, () => request(port)));
  return {
    share: answers.filter((each) => each.version === version).length / 2,
    lost: answers.filter(({ status }) => status !== 200).length,
  };
}

export function canarySuite(name: string) {
  const test = suite<{ world: TrafficWorld; proxy: ProxyRoute }>(name);
  test.before.each(async (context) => {
    const world = await makeTrafficWorld();
    // As a proxy does it that has the snippet: a bucket for each client.
    let client = 0;
    const proxy = await startProxy(() => {
      client = (client + 7) % 20;
      const bucket = String(client).padStart(2, '0');
      return { socketPath: join(world.dir, 'share', bucket, 'app.sock') };
    });
    Object.assign(context, { world, proxy });
  });
  test.after.each(async ({ world, proxy }) => {
    proxy.close();
    killApp(world.root, 'shop');
    await world.close();
  });
  return test;
}
