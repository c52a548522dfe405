/** Section `telemetry`: each deploy as a trace, an annotation and a release. */
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  emit,
  ended,
  flush,
  GRAFANA_TOKEN,
  makeTelemetryWorld,
  type Span,
} from './telemetry-world.ts';

const test = suite('telemetry');

const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));

test('what was recorded while the section was removed is not sent once it is there again', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector } = world;
  const config = join(root, 'config.yml');
  const text = readFileSync(config, 'utf8');
  const write = (content: string, ago: number) => {
    writeFileSync(config, content);
    const at = Date.now() / 1_000 - ago;
    utimesSync(config, at, at);
  };
  const at = (ago: number) => ({ timestamp: new Date(Date.now() - ago * 1_000).toISOString() });
  write(text, 500);
  await emit(root, ended(1, 'DeploySuccess', at(400)));
  await flush(root);
  write('{}\n', 300);
  await emit(root, ended(2, 'DeploySuccess', at(200)));
  await flush(root);
  write(text, 100);
  await emit(root, ended(3, 'DeploySuccess', at(50)));
  const { status, stderr } = await flush(root);
  assert.is(status, 0, stderr);
  const runs = [...collector.spans.values()].map(
    (span) => attributesOf(span)['cicd.pipeline.run.id'],
  );
  assert.equal(runs.filter(Boolean), ['00000001', '00000003']);
  await world.close();
});

test('what waits for several services is dropped one by one, by ids of its own', async () => {
  const { root, close } = await makeTelemetryWorld();
  await close();
  await emit(root, ended(1));
  await flush(root);
  const queue = (...args: string[]) => run('runner-notify', ['queue', ...args, '--json'], { root });
  const ids = ((await queue('list')).stdout.match(/"id":"[^"]+"/g) ?? []).map((id) =>
    id.slice(6, -1),
  );
  assert.equal([ids.length, new Set(ids).size], [3, 3]);
  assert.is((await queue('drop', ...ids)).status, 0);
  assert.not.match((await queue('list')).stdout, '"id"');
});

test('a restored server does not send again what the old one has sent', async () => {
  const { root, collector, close } = await makeTelemetryWorld();
  const at = Date.now() / 1_000 - 500;
  utimesSync(join(root, 'config.yml'), at, at);
  await emit(root, ended(1, 'DeploySuccess', { timestamp: new Date().toISOString() }));
  await flush(root);
  assert.is(collector.arrivals.length, 1);
  const [restored, folder] = [temporaryFolder('restored'), temporaryFolder('backup')];
  const [passphrase, backup] = [join(folder, 'passphrase'), join(folder, 'backup')];
  writeFileSync(passphrase, 'a long passphrase');
  const key = ['--passphrase-file', passphrase];
  assert.is((await run('runner-backup', ['--to', backup, ...key], { root })).status, 0);
  assert.is((await run('runner-restore', [backup, ...key], { root: restored })).status, 0);
  const { status, stdout } = await flush(restored);
  assert.equal([status, stdout, collector.arrivals.length], [0, '', 1]);
  await emit(restored, ended(2));
  await flush(restored);
  assert.is(collector.arrivals.length, 2);
  await close();
});

test('a deploy is one trace with a span a step, one annotation, one release with one deploy', async () => {
  const world = await makeTelemetryWorld();
  const { root, collector, grafana, sentry } = world;
  const error = 'build: npm test ended with 1\nmore';
  await emit(
    root,
    ended(1, 'DeployStarted'),
    ended(1),
    ended(2, 'DeployFailure', { stage: 'start', error, cause: `Error: no port\n    at x` }),
    ended(2, 'RollbackSuccess', {
      version: 'v1',
      from_version: 'v2',
      reason: 'start: no port',
      duration_ms: undefined,
      steps: undefined,
    }),
  );
  const { status, stderr, stdout } = await flush(root);
  assert.is(status, 0, stderr);
  assert.is(stdout.match(/"result":"delivered"/g)?.length, 8, stdout);
  const spans = [...collector.spans.values()];
  const [deploy] = spans;
  assert.equal(
    spans.map(({ name }) => name),
    ['RUN deploy shop', 'build', 'start', 'RUN deploy shop', 'build', 'start', 'rollback shop'],
  );
  assert.is(new Set(spans.map(({ traceId }) => traceId)).size, 2);
  const [, , , failed, , failedStep, back] = spans as Span[];
  assert.is(back?.parentSpanId, failed?.spanId);
  assert.is(failedStep?.parentSpanId, failed?.spanId);
  assert.equal(failed?.status, { code: 2, message: 'Error: no port' });
  const shown = attributesOf(failed as Span);
  assert.is(shown['cicd.pipeline.result'], 'failure');
  assert.is(shown['error.type'], 'start');
  assert.is(shown['cicd.pipeline.run.id'], '00000002');
  assert.is(attributesOf(deploy as Span)['vcs.ref.head.revision'], ended(1).commit);
  assert.is(attributesOf(failedStep as Span)['cicd.pipeline.task.run.result'], 'failure');
  assert.equal(
    grafana.annotations.map(({ text, tags }) => [text, tags[3]]),
    [
      ['shop v1, 0.9 s', 'success'],
      ['shop v2 failed, 0.9 s: Error: no port', 'failure'],
      ['shop rolled back to v1, 0.0 s: start: no port', 'success'],
    ],
  );
  assert.equal([...sentry.releases.keys()], ['shop@v1']);
  assert.equal(
    sentry.deploys.map(({ name, environment }) => [name, environment]),
    [
      ['deploy 00000001', 'production'],
      ['rollback 00000002', 'production'],
    ],
  );
  // Nothing is sent again, also if all that was known of it is lost.
  assert.is((await flush(root)).stdout, '');
  await world.close();
});

test('an event of several instances is recorded once, also if the last one has no record', async () => {
  const world = await makeTelemetryWorld();
  const instances = ['web', 'api'];
  await emit(world.root, ended(1, 'DeploySuccess', { instance: 'web', instances }));
  await flush(world.root);
  await flush(world.root);
  assert.is(world.grafana.annotations.length, 1);
  await world.close();
});

test('mistakes in the section name file, line and key', async () => {
  const world = await makeTelemetryWorld();
  for (const [text, words] of [
    ['telemetry: { otlp: { headers: {} } }', /config\.yml:1: telemetry\.otlp: .*url/],
    [
      '\ntelemetry: { grafana: { url: "http://grafana.example", token: x } }',
      /config\.yml:2: telemetry\.grafana\.url must be https/,
    ],
    [
      'telemetry: { sentry: { org: shop, projects: [], token: x } }',
      /config\.yml:1: telemetry\.sentry\.projects: must not be an empty list/,
    ],
    ['telemetry: { datadog: {} }', /config\.yml:1: telemetry\.datadog/],
  ] as const) {
    writeFileSync(join(world.root, 'config.yml'), text, { mode: 0o600 });
    const { status, stderr } = await flush(world.root);
    assert.is(status, 1);
    assert.match(stderr, words);
  }
  await world.close();
});

test('a record dated far in the future is sent, and so are those after it', async () => {
  const world = await makeTelemetryWorld();
  const { root, grafana } = world;
  // OTLP has no such time.
  const config = `telemetry: { grafana: { url: "${grafana.url}", token: ${GRAFANA_TOKEN} } }\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await emit(
    root,
    ended(1),
    ended(2, 'DeploySuccess', { timestamp: '9999-12-31T23:00:00Z' }),
    ended(3),
  );
  const cursor = join(root, 'spool/notify/telemetry.json');
  assert.is((await flush(root)).status, 0);
  // As an earlier version left it.
  const stored = JSON.parse(readFileSync(cursor, 'utf8'));
  writeFileSync(cursor, JSON.stringify({ ...stored, last: 253_402_297_200_000 }));
  await emit(root, ended(4));
  assert.is((await flush(root)).status, 0);
  assert.equal(
    grafana.annotations.map(({ text }) => text),
    [1, 2, 3, 4].map((number) => `shop v${number}, 0.9 s`),
  );
  await world.close();
});

test.run();
