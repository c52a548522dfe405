/** A broker that answers and cannot store. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBroker } from '../../libs/fleet/src/broker/nats.ts';
import { makeStage, type Stage } from './stage.ts';
import { must } from './world.ts';

const test = suite<Stage>('full disk');
const withBroker = whenBroker(test);

test.before(async (stage) => {
  if (hasBroker()) Object.assign(stage, await makeStage(['web1']));
});
test.after(async (stage) => {
  await stage.close?.();
  spawnSync('umount', [stage.broker?.store ?? '']);
});

/** Writes zeros until there is no space. */
function fill(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (const size of [65_536, 512, 1]) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(size));
      } catch {}
    }
  } finally {
    closeSync(fd);
  }
}

withBroker(
  'a broker whose disk is full is not called unreachable, and broker check sees it',
  async (stage) => {
    const { broker, operator, startBroker } = stage;
    await broker.kill();
    rmSync(broker.store, { recursive: true });
    mkdirSync(broker.store);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', broker.store]);
    if (mounted.status !== 0) return void process.stdout.write('(left out: mounting needs root)\n');
    await startBroker();
    await must(operator.fleet(['broker', 'check']));
    fill(join(broker.store, 'filler'));
    const why =
      /127\.0\.0\.1:\d+ answers, but with an error: .*no space left on device; its disk may be full/;
    const seed = readFileSync(join(operator.root, 'fleet/operator.nk'), 'utf8').trim();
    const owner = await openBroker({ url: broker.url, ca: undefined, seed, name: 'test' });
    const stored = await owner
      .store('runner.order.web1', 'x'.repeat(20_000))
      .catch((error) => error);
    await owner.close();
    assert.equal([stored.code, why.test(stored.message)], ['broker_failed', true], stored.message);
    const { status, stdout, stderr } = await operator.fleet(['broker', 'check']);
    assert.equal([status, stdout], [1, '']);
    assert.match(stderr, why);
    assert.match(stderr, /\(broker_failed\)\n$/);
    rmSync(join(broker.store, 'filler'));
    await must(operator.fleet(['broker', 'check']));
  },
);

test.run();
