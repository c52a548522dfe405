/** Section `telemetry`: each deploy as a trace, an annotation and a release. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { run } from '@runner/testing/run';
import { pathsBelow } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  emit,
  ended,
  flush,
  GRAFANA_TOKEN,
  makeTelemetryWorld,
  SENTRY_TOKEN,
} from './telemetry-world.ts';

const test = suite('telemetry');

test('a refused token stops a service until it is tried again; 429 waits as asked; secrets stay secret', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector, grafana, sentry } = world;
  sentry.fail({ status: 429, body: { detail: 'slow down' }, headers: { 'retry-after': '1' } }, 1);
  grafana.fail({ status: 401, body: { message: 'Invalid API key' } }, 1);
  collector.fail({ status: 503, body: {} }, 1);
  await emit(root, ended(1), ended(2));
  await flush(root);
  assert.is(grafana.annotations.length, 0);
  const status = await run('runner-notify', ['status', '--json'], { root });
  assert.is(status.status, 1);
  const { telemetry } = JSON.parse(status.stdout);
  const states = telemetry.map((each: Record<string, unknown>) => [
    each.channel,
    each.stopped,
    each.dead,
  ]);
  assert.equal(states[1], ['grafana', true, 2]);
  await flush(root);
  const tried = await run('runner-notify', ['test'], { root });
  assert.is(tried.status, 0, tried.stdout + tried.stderr);
  assert.match(tried.stdout, /✔ grafana {3}accepted by Grafana/);
  assert.match(tried.stdout, /✔ otlp {6}accepted by OpenTelemetry/);
  await run('runner-notify', ['queue', 'retry', '--all'], { root });
  // Sentry asked to wait that long.
  await setTimeout(1_000);
  for (let time = 0; time < 3; time += 1) await flush(root);
  assert.is(collector.spans.size, 6);
  assert.is(sentry.deploys.length, 2);
  const deploys = grafana.annotations.filter(({ tags }) => tags.includes('shop'));
  assert.is(deploys.length, 2);
  const shown = await run('runner-notify', ['status'], { root });
  assert.match(shown.stdout, /Grafana: every deploy is recorded/);
  const written = pathsBelow(root).filter((path) => path !== 'config.yml' && !path.endsWith('/'));
  for (const secret of [GRAFANA_TOKEN, SENTRY_TOKEN, 'c0llector-key-of-the-test'])
    for (const text of [
      tried.stdout,
      shown.stdout,
      shown.stderr,
      status.stdout,
      ...written.map((path) => readOr(join(root, path))),
    ])
      assert.not.match(text, secret);
  await world.close();
});

test('a trace whose spans the collector rejects is set aside with its reason, although the status is 200', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector } = world;
  const partialSuccess = { rejectedSpans: '3', errorMessage: 'older than an hour' };
  collector.fail({ status: 200, body: { partialSuccess } }, 1);
  await emit(root, ended(1), ended(2));
  const { stdout } = await flush(root, '--channel=otlp');
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    results.map(({ result }) => result),
    ['rejected', 'delivered'],
  );
  assert.match(stdout, '3 spans rejected: older than an hour');
  await run('runner-notify', ['queue', 'retry', '--all'], { root });
  await flush(root, '--channel=otlp');
  assert.is(collector.arrivals.length, 2);
  await world.close();
});

test('a cursor that cannot be read stops neither messages nor what is queued, and fails the run', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector } = world;
  collector.fail({ status: 503, body: {} }, 1);
  await emit(root, ended(1));
  await flush(root, '--channel=otlp');
  const cursor = join(root, 'spool/notify/telemetry.json');
  rmSync(cursor);
  mkdirSync(cursor);
  const { status, stderr } = await flush(root, '--channel=otlp');
  assert.is(status, 1);
  assert.match(stderr, `cannot read ${cursor}`);
  assert.is(collector.arrivals.length, 1);
  await world.close();
});

test('a duration that no clock can show stops no delivery', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector, grafana, sentry } = world;
  await emit(root, ended(1, 'DeploySuccess', { duration_ms: 1e308 }), ended(2));
  const { status, stderr } = await flush(root);
  assert.is(status, 0, stderr);
  assert.equal(
    [collector.arrivals.length, grafana.annotations.length, sentry.deploys.length],
    [2, 2, 2],
  );
  await world.close();
});

test('an answer that is lost makes no second annotation or deploy', async () => {
  const world = await makeTelemetryWorld();
  const { root, grafana, sentry } = world;
  await emit(root, ended(1));
  grafana.lose(1);
  sentry.lose(1);
  for (let time = 0; time < 3; time += 1) await flush(root);
  assert.is(grafana.annotations.length, 1);
  assert.is(sentry.deploys.length, 1);
  await world.close();
});

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

test.run();
