import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '@runner/testing/app';
import { temporaryFolder } from '@runner/testing/temp';
import { impatientFile, type Manner, trafficFile, trafficFiles } from '@runner/testing/traffic-app';
import { request, startLoad, startProxy } from '@runner/testing/traffic-proxy';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeTrafficWorld, type TrafficWorld } from './world.ts';

const test = suite('traffic with compose');

/** A docker that runs `server.js` for each project, with the PORT that compose would publish. */
function standIn(): { folder: string; env: Record<string, string> } {
  const folder = temporaryFolder('docker');
  const script = `#!/bin/sh
case $1 in compose) ;; *) exit 0 ;; esac
pid='${folder}/'$3.pid
case " $* " in
  *' up '*) setsid node server.js >"$pid.log" 2>&1 </dev/null & echo $! >"$pid" ;;
  *' down '*) kill "$(cat "$pid")"; rm "$pid" ;;
  *' ps '*) kill -0 "$(cat "$pid")" 2>/dev/null && echo c0ffee ;;
  *' logs '*) cat "$pid.log" ;;
esac
exit 0
`;
  writeFileSync(join(folder, 'docker'), script);
  chmodSync(join(folder, 'docker'), 0o755);
  return { folder, env: { PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}` } };
}

const COMPOSE = `services:
  web:
    build: .
    ports: ["127.0.0.1:\${PORT}:3000"]
    volumes: ["uploads:/uploads"]
`;
const DATABASE = `  db:
    image: postgres
    volumes:
      - data:/var/lib/postgresql
`;

test('each version is its own project, and a refused version never gets a request', async () => {
  const { folder, env } = standIn();
  const world = await makeTrafficWorld();
  const ports = [await freePort(), await freePort()];
  const live = (port: number) => existsSync(join(world.dir, 'live', String(port)));
  const proxy = await startProxy(() => ({ port: ports.find(live) ?? 0 }));
  const more = `traffic: { type: ports, ports: [${ports}], drain: 2s }\n`;
  const push = (version: string, manner: Manner = 'good', compose = COMPOSE) => {
    const file = manner === 'good' ? trafficFile(more) : impatientFile(more);
    const deploy = file.replace(/^start: .*/, 'start: { type: compose }');
    const files = { ...trafficFiles(version, manner), 'compose.yaml': compose };
    return world.push(version, { deploy, files });
  };
  const projects = () => readdirSync(folder).filter((name) => name.endsWith('.pid'));
  try {
    await push('v0');
    const first = await world.deploy([], env);
    assert.is(first.status, 0, first.stderr);
    const load = startLoad(proxy.port);
    await push('v1');
    assert.is((await world.deploy([], env)).status, 0);
    await push('v2', 'unhealthy');
    const refused = await world.deploy([], env);
    assert.match(refused.stderr, /v1 keeps serving, nothing was switched/);
    await push('v3', 'crashing');
    assert.is((await world.deploy([], env)).status, 1);
    const back = await world.runnerWith(env, 'rollback', 'shop', '--to', 'v0');
    assert.is(back.status, 0, back.stderr);
    const { failed, versions } = await load.end();
    assert.equal(failed, []);
    assert.equal(versions, ['v0', 'v1']);
    assert.is((await request(proxy.port)).version, 'v0');
    assert.is(projects().length, 1);
    assert.match(projects()[0] ?? '', /^runner-shop-default-a-\w+\.pid$/);
    await warns(world, push, env);
  } finally {
    for (const name of projects()) process.kill(Number(readFileSync(join(folder, name), 'utf8')));
    proxy.close();
    await world.close();
  }
});

async function warns(
  world: TrafficWorld,
  push: (version: string, manner: Manner, compose: string) => Promise<string>,
  env: Record<string, string>,
): Promise<void> {
  await push('v4', 'good', COMPOSE + DATABASE);
  const checked = await world.deploy(['--check', '--json'], env);
  // Not `result`: a proxy of this machine may be unable to enter the folder of the test.
  const { warnings } = JSON.parse(checked.stdout) as { warnings: string[] };
  assert.equal(warnings, [
    'traffic: compose.yaml: db has the volume data, and would run in both slots, with a volume each: keep it in a compose file of its own',
  ]);
}

test.run();
