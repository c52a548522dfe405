import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { runOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const NOW = Date.now();
const MINUTE = 60_000;

/** An example, in the last ten days. */
function example(): string {
  const lines: string[] = [];
  const add = (minutes: number, event_type: string, id: number, more: object) => {
    const timestamp = new Date(NOW - 5 * 86_400_000 + minutes * MINUTE).toISOString();
    const own = {
      project: 'shop',
      instance: 'default',
      version: `v${id}`,
      deploy_id: `0000000${id}`,
    };
    lines.push(`${JSON.stringify({ timestamp, event_type, ...own, ...more })}\n`);
  };
  const start = (minutes: number, id: number, lead: number) => {
    const committed = NOW - 5 * 86_400_000 + (minutes + 1 - lead) * MINUTE;
    add(minutes, 'DeployStarted', id, { committed_at: new Date(committed).toISOString() });
  };
  const took = { duration_ms: MINUTE, steps: [{ stage: 'build', ms: 40_000 }] };
  for (const [at, id, lead] of [
    [0, 1, 10],
    [10, 2, 20],
    [100, 5, 30],
  ] as const) {
    start(at, id, lead);
    add(at + 1, 'DeploySuccess', id, took);
    if (id !== 2) continue;
    start(20, 3, 5);
    add(21, 'DeployFailure', 3, { ...took, stage: 'build', error: 'no' });
    start(30, 4, 5);
    add(31, 'DeployFailure', 4, { ...took, stage: 'health', error: 'no', rolled_back: true });
    add(31 + 2 / 60, 'RollbackSuccess', 4, { version: 'v2', from_version: 'v4' });
  }
  add(161, 'RollbackSuccess', 6, { version: 'v2', from_version: 'v5', reason: 'by hand' });
  const root = temporaryFolder('stats');
  mkdirSync(join(root, 'logs'));
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), lines.join(''));
  return root;
}

const root = example();
const stats = (...args: string[]) => run('runner-stats', args, { root });

test('the example of the docs has the figures that the docs say', async () => {
  const { since, until, ...figures } = JSON.parse((await stats('--since', '10d', '--json')).stdout);
  assert.is(Date.parse(until) - Date.parse(since), 10 * 86_400_000);
  assert.equal(figures, {
    deploys: 5,
    changes: 4,
    per_day: 0.5,
    lead_time_s: { p50: 1200, p90: 1800 },
    change_failure_rate: 0.5,
    time_to_restore_s: { p50: 2, p90: 3600 },
    duration_ms: { p50: 60_000, p95: 60_000 },
    slowest_steps: [{ stage: 'build', p50: 40_000, p95: 40_000 }],
  });
});

test('people read it in seven lines, plain in a pipe and with pictures on a terminal', async () => {
  const { status, stdout, stderr } = await stats('shop', '--since', '10d');
  assert.is(
    stdout.slice(stdout.indexOf('\n') + 1),
    `  deploys:          5, 0.5 a day
  outcomes:         3 succeeded, 2 failed
  changes:          4, 2 failed (50 %)
  lead time:        p50 20 m 00 s, p90 30 m 00 s
  time to restore:  p50 2.0 s, p90 1 h 00 m
  duration:         p50 1 m 00 s, p95 1 m 00 s
  slowest steps:    build 40 s (p95)
`,
  );
  assert.match(stdout, /^shop since \d{4}-\d\d-\d\d\n/);
  const short = await stats('shop', '--since', '1h');
  assert.match(short.stdout, /^shop since \d{4}-\d\d-\d\d \d\d:\d\d\n/);
  assert.equal([status, stderr], [0, '']);
  const { text } = await runOnTerminal('runner-stats', ['--since', '10d'], { root });
  assert.match(text, /█/);
  assert.match(text, / 3 succeeded, 2 failed\r\n/);
  assert.match(text, /over time: .*[▁-█]/);
  assert.match(text, /█{10}/);
  const env = { NO_COLOR: '1' };
  const plain = await runOnTerminal('runner-stats', ['--since', '10d'], { root, env });
  assert.not.match(plain.text, /█{10}/);
});

test('on a narrow terminal no line is wider than it', async () => {
  for (const columns of [30, 40, 50]) {
    const options = { root, columns };
    const { text } = await runOnTerminal('runner-stats', ['--since', '10d'], options);
    const shown = text.replace(/\x1b\[\d+m/g, '');
    for (const line of shown.split('\r\n'))
      assert.ok([...line].length <= columns, `${columns}: ${line}`);
    assert.match(shown.replace(/\s+/g, ' '), 'time to restore: p50 2.0 s, p90 1 h 00 m');
  }
});

test('--prometheus prints the figures of each app', async () => {
  const { stdout } = await stats('--since', '10d', '--prometheus');
  const samples = stdout.split('\n').filter((line) => line.startsWith('runner_'));
  for (const line of samples)
    assert.match(line, /^runner_[a-z_]+\{app="shop"(,[a-z]+="[a-z_0-9.]+")?\} [\d.]+$/);
  assert.ok(samples.includes('runner_deploys{app="shop",result="success"} 3'), stdout);
  // promtool refuses quantiles of a gauge.
  const summaries = [...stdout.matchAll(/^# TYPE (\w+) summary$/gm)].map(([, name]) => `${name}`);
  const withQuantiles = samples.filter((line) => line.includes('quantile='));
  assert.equal([...new Set(withQuantiles.map((line) => line.replace(/\{.*/, '')))], summaries);
  // Without them node_exporter prints a sum and a count of 0.
  for (const name of summaries)
    for (const suffix of ['_sum', '_count'])
      assert.ok(samples.some((line) => line.startsWith(`${name}${suffix}{`)));
  assert.ok(samples.includes('runner_deploy_duration_seconds_sum{app="shop"} 300'), stdout);
  assert.ok(samples.includes('runner_deploy_duration_seconds_count{app="shop"} 5'), stdout);
  assert.ok(samples.includes('runner_change_failure_ratio{app="shop"} 0.5'), stdout);
  assert.ok(samples.includes('runner_time_to_restore_seconds{app="shop",quantile="0.9"} 3600'));
});

test('of a pipe each record counts once, and an app that no record names is refused', async () => {
  const { stdout } = await run('runner-audit', ['list', '--json'], { root });
  const piped = (stdin: string, ...args: string[]) =>
    run('runner-stats', [...args, '-', '--json', '--since', '10d'], { root: '/nowhere', stdin });
  const { deploys } = JSON.parse((await stats('--json')).stdout);
  for (const records of [stdout, `${stdout}\n${stdout}`])
    assert.is(JSON.parse((await piped(records)).stdout).deploys, deploys);
  const unknown = await piped(stdout, 'shpo');
  assert.is(unknown.status, 1);
  assert.is(
    unknown.stderr,
    "runner stats: no record on standard input names the app 'shpo' (app_not_found)\n",
  );
  assert.is((await piped('')).status, 0);
});

test('a period of which rotation has removed the beginning is reported', async () => {
  const own = temporaryFolder('stats');
  mkdirSync(join(own, 'logs'));
  const begin = new Date(NOW - 5 * 86_400_000).toISOString();
  const log = (seq: number) => {
    const line = { timestamp: begin, event_type: 'DeployStarted', project: 'shop', seq };
    writeFileSync(join(own, 'logs/deploy-events.jsonl'), `${JSON.stringify(line)}\n`);
  };
  const notes = async (tool: string, ...args: string[]) =>
    (await run(tool, args, { root: own })).stderr;
  log(7);
  for (const tool of ['stats', 'history'])
    assert.is(
      await notes(`runner-${tool}`, '--since', '30d'),
      `runner ${tool}: the audit log begins at ${begin}: rotation has removed what was before\n`,
    );
  assert.is(await notes('runner-stats', '--since', '2d'), '');
  assert.is(await notes('runner-stats', '--prometheus'), '');
  log(1);
  assert.is(await notes('runner-stats'), '');
});

test('without deploys the figures are null or 0; a period in the future is wrong', async () => {
  const empty = { root: temporaryFolder('stats') };
  const none = await run('runner-stats', ['--json'], empty);
  const { deploys, lead_time_s, change_failure_rate } = JSON.parse(none.stdout);
  assert.equal([deploys, lead_time_s.p50, change_failure_rate], [0, null, null]);
  const wrong = await stats('--since', '2999-01-01');
  assert.is(wrong.status, 2);
  assert.match(wrong.stderr, /'--since <TIME>': it must lie in the past/);
  assert.is((await stats('--prometheus', '--json')).status, 2);
});

test.run();
