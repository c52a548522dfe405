/**
 * The watcher is killed at any moment of its way back, without traffic: it is finished by the next command,
 * and never undone towards the release that was judged bad. WATCH_ROUNDS=n changes the number of rounds.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IS_WHOLE } from '@runner/testing/extent';
import { randomOf } from '@runner/testing/random';
import { run } from '@runner/testing/run';
import { until } from '@runner/testing/until';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, makeWorld, type World } from './world.ts';

const test = suite('killed way back without traffic');
const ROUNDS = Number(process.env.WATCH_ROUNDS ?? (IS_WHOLE ? 25 : 5));

/** Is healthy after 400 ms; a bad one no longer is after another second. */
const server = (version: string, isBad: boolean) => `
const begun = Date.now();
const isIll = () => Date.now() - begun < 400 || (${isBad} && Date.now() - begun > 1400);
require('http').createServer((request, response) => {
  response.statusCode = request.url === '/health' && isIll() ? 500 : 200;
  response.end('${version}');
}).listen(Number(process.env.PORT), '127.0.0.1');
`;

async function ship(world: World, version: string, isBad: boolean) {
  const deploy = deployFile(world.port, 'watch: 5m\n').replace('60s', '10s');
  await world.launch(version, { deploy, files: { 'server.js': server(version, isBad) } });
}

test('it ends at the version before, with the bad one on hold', async () => {
  const world = await makeWorld();
  const random = randomOf(35);
  const lock = join(world.root, 'locks/shop.watch');
  const stages: unknown[] = [];
  const of = (kind: string) => world.events().filter(({ event_type: each }) => each === kind);
  try {
    await ship(world, 'v0', false);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const version = `v${round}`;
      await ship(world, version, true);
      await until(() => of('WatchFailed').length === round, 'it is not judged');
      await sleep((random() * 900 * round) / ROUNDS);
      const pid = existsSync(lock) && /"pid":(\d+)/.exec(readFileSync(lock, 'utf8'))?.[1];
      try {
        if (pid) process.kill(Number(pid), 'SIGKILL');
      } catch {
        // It was faster.
      }
      const { deploying } = world.state() as { deploying: { stage: string } | null };
      stages.push(deploying?.stage ?? 'none');
      const fetched = await run('runner-fetch', ['--deploy', 'shop'], { root: world.root });
      await until(() => !world.state().watch && !world.state().deploying, 'it does not end');
      assert.is(fetched.status, 0, fetched.stdout + fetched.stderr);
      const back = of('RollbackSuccess').at(-1);
      const { version: to, from_version: from, trigger, reason } = back ?? {};
      assert.equal([to, from, trigger], ['v0', version, 'watch'], fetched.stdout + fetched.stderr);
      assert.match(String(reason), /^watch: health of default: /);
      assert.is(await world.page(), 'v0');
      const { held } = world.state() as { held: { reason: string } };
      assert.match(held.reason, new RegExp(`^${version} failed its watch: `));
    }
    assert.ok(
      stages.some((stage) => stage !== 'none'),
      'none was killed on its way back',
    );
    assert.is(of('DeployFailure').length, 0);
    assert.is((await run('runner-audit', ['verify'], { root: world.root })).status, 0);
  } finally {
    await world.close();
  }
  process.stdout.write(`(killed in ${stages.join(', ')})\n`);
});

test.run();
