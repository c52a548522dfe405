/**
 * `npm run bench -- watch`: what watching a release costs: processor time at one probe a second, and the memory
 * of the version that is kept running, as `runner watch` says and as the kernel does. Takes two minutes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killApp } from '@runner/testing/app';
import { until } from '@runner/testing/until';
import { makeTrafficWorld, type TrafficWorld } from '../tests/traffic/world.ts';
import { conclude, printRows, verdict } from './harness/measure.ts';
import { privateIn, processorTime, smapsOf } from './harness/process.ts';
import { printSetting } from './harness/setting.ts';

/** Of a core, and of the announced memory. */
const [CORE, MEMORY] = [0.005, 0.2];
/** Seconds until the watch probes once a second, and of the measurement. */
const [CALM, TIME] = [30, 60];

async function measure(world: TrafficWorld): Promise<boolean> {
  const log = join(world.root, '..', 'access.log');
  writeFileSync(log, '{"status":200,"duration":0.01}\n'.repeat(1_000));
  const more = `traffic: { type: socket, drain: 2s }\nwatch: { for: 10m, access_log: "${log}" }\n`;
  for (const version of ['v1', 'v2']) {
    const done = await world.ship(version, 'good', more);
    if (done.status !== 0) throw new Error(done.stderr);
  }
  const lock = join(world.root, 'locks/shop.watch');
  const watcher = () => Number(/"pid":(\d+)/.exec(readFileSync(lock, 'utf8'))?.[1]);
  await until(() => watcher() > 0, 'no watcher');
  await sleep(CALM * 1_000);
  const before = processorTime(watcher());
  await sleep(TIME * 1_000);
  const core = (processorTime(watcher()) - before) / (TIME * 1_000);
  const shown = JSON.parse(readFileSync(join(world.root, 'apps/shop/watch.json'), 'utf8'));
  const slots = world.instance() as { draining: { slot: string } };
  const file = join(world.dir, 'run', slots.draining.slot, 'pid.json');
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
  const [said, real] = [Number(shown.warm_bytes) / 1_048_576, privateIn(smapsOf(pid))];
  const isCheap = core <= CORE;
  const isTrue = Math.abs(said - real) <= MEMORY * real;
  const shownAs = (megabytes: number) => `${megabytes.toFixed(1)} MiB`;
  printRows(
    'Watching a release',
    ['what', 'found', 'budget', ''],
    [
      [
        'of a core, at one probe a second',
        `${(core * 100).toFixed(2)} %`,
        '0.5 %',
        verdict(isCheap),
      ],
      [
        'memory of the version before, as announced',
        shownAs(said),
        `${shownAs(real)} ± 20 %`,
        verdict(isTrue),
      ],
    ],
  );
  return isCheap && isTrue;
}

async function main(): Promise<void> {
  printSetting('A watch', 1);
  const world = await makeTrafficWorld();
  try {
    conclude([await measure(world)]);
  } finally {
    killApp(world.root, 'shop');
    await world.close();
  }
}

void main();
