/**
 * A collector that is down again and again, and a sender that is killed at random moments: each deploy
 * arrives, in order, and is kept once. A request whose answer was lost is made again, with the same ids.
 */
import { rmSync } from 'node:fs';
import { runKilled } from '@runner/testing/killing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emit, ended, flush, makeTelemetryWorld } from './telemetry-world.ts';

const test = suite('telemetry under kills');
const KILLS = Number(process.env.TELEMETRY_KILLS ?? 60);

test(`${KILLS} kills with services that fail: each deploy once, in order`, async () => {
  const world = await makeTelemetryWorld();
  const { root, collector, grafana, sentry } = world;
  const faults = ['drop', 'cut', 'html', 'not-json', { status: 503 }, { status: 429 }] as const;
  let deploys = 0;
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const many = 1 + (kill % 3);
    const made = Array.from({ length: many }, (_, index) => ended(deploys + 1 + index));
    deploys += many;
    await emit(root, ...made);
    collector.fail(faults[kill % faults.length] as 'drop', 1);
    if (kill % 2 === 0) grafana.lose(1);
    if (kill % 3 === 0) sentry.lose(1);
    const args = ['flush', '--now', '--json'];
    await runKilled({ tool: 'runner-notify', args }, { ms: Math.random() * 400 }, root);
  }
  collector.heal();
  for (let time = 0; time < 12; time += 1) await flush(root);
  const ids = Array.from({ length: deploys }, (_, index) => ended(index + 1).deploy_id);
  const runs = [...collector.spans.values()].filter(({ name }) => name === 'RUN deploy shop');
  const idOf = ({ attributes }: (typeof runs)[number]) =>
    attributes.find(({ key }) => key === 'cicd.pipeline.run.id')?.value.stringValue;
  assert.equal(runs.map(idOf), ids);
  assert.equal(new Set(collector.arrivals).size, deploys);
  const idsOf = (texts: readonly string[]) =>
    texts.map((text) => /[0-9a-f]{8}(?= deploy$)|(?<=^deploy )[0-9a-f]{8}$/.exec(text)?.[0]);
  assert.equal(idsOf(grafana.annotations.map(({ tags }) => tags[4] ?? '')), ids);
  assert.equal(idsOf(sentry.deploys.map(({ name }) => String(name))), ids);
  // With the cursor gone, nothing from before the section was written is sent; ids keep the rest apart.
  rmSync(`${root}/spool/notify/telemetry.json`);
  for (let time = 0; time < 3; time += 1) await flush(root);
  assert.is(grafana.annotations.length, deploys);
  assert.is(sentry.deploys.length, deploys);
  console.log(`${KILLS} kills, ${deploys} deploys, ${collector.arrivals.length} traces sent`);
  await world.close();
});

test.run();
