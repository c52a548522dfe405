import { appendFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';
import { follow, interrupted, lines, tail, versionsIn } from './tail.ts';

test('a record is one line: time, kind, app and instance, version, deploy, error', async () => {
  const root = rootWithLog(
    [
      record('v1'),
      record('v1', { event_type: 'DeploySuccess', instance: 'eu' }),
      record('v2', { event_type: 'DeployFailure', error: 'build: exit 2\nmore\nlines' }),
      record('v1', { event_type: 'RollbackSuccess', reason: 'health: 503' }),
      { event: 'DeployStarted', app: 'blog', version: 'v7' },
      {},
    ]
      .map(line)
      .join(''),
  );
  const { status, stdout, stderr } = await tail(root);
  assert.is(
    stdout,
    `2026-05-04T09:30:00.000Z DeployStarted   shop/default v1 [a1b2c3d4]
2026-05-04T09:30:00.000Z DeploySuccess   shop/eu v1 [a1b2c3d4]
2026-05-04T09:30:00.000Z DeployFailure   shop/default v2 [a1b2c3d4] build: exit 2
2026-05-04T09:30:00.000Z RollbackSuccess shop/default v1 [a1b2c3d4] health: 503
- DeployStarted   blog/default v7 [-]
- ?               ?/default - [-]
`,
  );
  assert.equal([status, stderr], [0, '']);
});

test('with --json records are printed as in the log, an old one with both names; YAML has one document per record', async () => {
  const odd = { event: 'DeployStarted', app: 'shop', version: 'v1', more: [1, null] };
  const root = rootWithLog(line(odd));
  const both = { ...odd, event_type: 'DeployStarted', project: 'shop' };
  assert.is((await tail(root, '--json')).stdout, line(both));
  assert.is(
    (await tail(root, '-o', 'yaml')).stdout,
    '---\nevent: DeployStarted\napp: shop\nversion: v1\nmore:\n  - 1\n  - null\nevent_type: DeployStarted\nproject: shop\n',
  );
});

test('the newest ten, or the number given by -n, are printed oldest first', async () => {
  const all = Array.from({ length: 25 }, (_, index) => `v${index}`);
  const root = rootWithLog(lines(...all));
  for (const [args, count] of [
    [[], 10],
    [['-n', '3'], 3],
    [['-n1'], 1],
    [['--lines=25'], 25],
    [['-n', '100000'], 25],
    [['-n', '0'], 0],
  ] as const) {
    const { status, stdout } = await tail(root, '--json', ...args);
    assert.equal(versionsIn(stdout), count === 0 ? [] : all.slice(-count), args.join(' '));
    assert.is(status, 0);
  }
});

test('without a log there is nothing to print, and stderr says so', async () => {
  const root = newRoot();
  const { status, stdout, stderr } = await tail(root, '--json');
  const message = `there is no audit log yet: ${logPath(root)}`;
  assert.is(stderr, `runner audit tail: ${message} (log_not_found)\n`);
  assert.equal(JSON.parse(stdout), { error: 'log_not_found', message });
  assert.is(status, 1);
});

test('-f prints new records as they arrive, and exits with 130 on Ctrl-C', async () => {
  const root = rootWithLog(lines('v1'));
  const { running, next } = follow(root);
  assert.is(await next(), 'v1');
  for (const version of ['v2', 'v3']) {
    await run(
      'runner-audit',
      ['emit', 'DeployStarted', '--project', 'shop', '--version', version],
      {
        root,
      },
    );
    assert.is(await next(), version);
  }
  assert.is(await interrupted(running), '');
});

test('-f prints whole lines and counts those that are not records', async () => {
  const whole = line(record('v2'));
  const root = rootWithLog(lines('v1') + whole.slice(0, 40));
  const { running, next } = follow(root);
  assert.is(await next(), 'v1');
  appendFileSync(logPath(root), whole.slice(40, 60));
  await after(300);
  appendFileSync(logPath(root), whole.slice(60));
  assert.is(await next(), 'v2');
  appendFileSync(logPath(root), `${whole.slice(0, 30)}\n${lines('v3')}`);
  assert.is(await next(), 'v3');
  const stderr = await interrupted(running);
  assert.is(stderr, 'runner audit tail: skipped 1 line(s) that are not records\n');
});

test.run();
