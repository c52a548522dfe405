import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { runOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = `ghp_${'a1B2c3D4'.repeat(4)}abcd`;

/** A record of a deploy of shop on the 20th of November. */
function record(event_type: string, clock: string, deploy_id: string, more: object) {
  const timestamp = `2026-11-20T${clock}.000Z`;
  const own = { event_type, project: 'shop', instance: 'default', deploy_id };
  return { timestamp, ...own, user: 'ada', trigger: 'manual', ...more };
}

const RECORDS = [
  record('DeployStarted', '08:00:00', '00000001', { version: 'v1', subject: 'First' }),
  record('DeploySuccess', '08:00:09', '00000001', { version: 'v1', duration_ms: 9000 }),
  record('DeployStarted', '09:00:00', '00000002', { version: 'v2', previous_version: 'v1' }),
  record('DeployFailure', '09:01:00', '00000002', {
    version: 'v2',
    duration_ms: 60_000,
    stage: 'build',
    error: 'long',
    cause: `error TS2339 ${TOKEN}\nmore`,
  }),
  record('DeployFailure', '09:30:00', '0000000f', {
    version: 'main',
    stage: 'fetch',
    error: 'no network',
  }),
  record('DeployStarted', '10:00:00', '00000003', { version: 'v3', previous_version: 'v1' }),
  record('DeployFailure', '10:00:20', '00000003', {
    version: 'v3',
    duration_ms: 20_000,
    stage: 'health',
    error: 'answered 503',
    rolled_back: true,
  }),
  record('RollbackSuccess', '10:00:21', '00000003', { version: 'v1', from_version: 'v3' }),
  record('DeployStarted', '11:00:00', '00000004', { version: 'v4' }),
  record('DeployStarted', '12:00:00', '00000005', {
    version: 'v5',
    instance: 'eu',
    instances: ['eu', 'us'],
  }),
  record('DeployStarted', '12:00:00', '00000005', {
    version: 'v5',
    instance: 'us',
    instances: ['eu', 'us'],
  }),
  record('DeploySuccess', '12:00:05', '00000005', {
    version: 'v5',
    instance: 'eu',
    duration_ms: 5000,
  }),
  record('DeploySuccess', '12:00:05', '00000005', {
    version: 'v5',
    instance: 'us',
    duration_ms: 5000,
  }),
  record('RollbackSuccess', '13:00:00', '00000006', { version: 'v1', from_version: 'v5' }),
];

function rootWith(records: readonly object[], more = ''): string {
  const root = temporaryFolder('history');
  mkdirSync(join(root, 'logs'));
  const lines = records.map((each) => `${JSON.stringify(each)}\n`).join('');
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), lines + more);
  return root;
}

test('instances rolled back to different versions are a line each; a version started again was not left', async () => {
  const [blue, green] = [{ instance: 'blue' }, { instance: 'green' }];
  const root = rootWith([
    record('RollbackSuccess', '08:00:00', '00000001', {
      version: 'v1',
      from_version: 'v5',
      ...blue,
    }),
    record('RollbackSuccess', '08:00:00', '00000001', {
      version: 'v4',
      from_version: 'v5',
      ...green,
    }),
    record('RollbackSuccess', '09:00:00', '00000002', {
      version: 'v4',
      from_version: 'v4',
      commit: 'c4',
      from_commit: 'c4',
      ...green,
    }),
  ]);
  const { stdout } = await run('runner-history', ['--json'], { root });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    rows.map(({ instance, trigger, version, previous_version }) => [
      ...[instance, trigger, version, previous_version],
    ]),
    [
      ['blue', 'rollback', 'v1', 'v5'],
      ['green', 'rollback', 'v4', 'v5'],
      ['green', 'restart', 'v4', null],
    ],
  );
});

test('each deploy is one line with its result and reason', async () => {
  const { status, stdout, stderr } = await run('runner-history', [], { root: rootWith(RECORDS) });
  assert.is(
    stdout,
    `TIME (UTC)           APP         RESULT       VERSION  TOOK      BY   SUBJECT OR CAUSE
2026-11-20 08:00:00  shop        success      v1       9.0 s     ada  First
2026-11-20 09:00:00  shop        failed       v2       1 m 00 s  ada  error TS2339 [REDACTED]
2026-11-20 10:00:00  shop        rolled_back  v3       20 s      ada  answered 503
2026-11-20 11:00:00  shop        interrupted  v4       -         ada
2026-11-20 12:00:00  shop/eu,us  success      v5       5.0 s     ada
2026-11-20 13:00:00  shop        success      ← v1     -         ada
`,
  );
  assert.equal([status, stderr], [0, '']);
});

test('with --json each deploy is an object; -n, --since and the app filter them', async () => {
  const root = rootWith(RECORDS, 'not a record\n');
  const { stdout, stderr } = await run('runner-history', ['shop', '--json', '-n', '1'], { root });
  assert.equal(JSON.parse(stdout), {
    timestamp: '2026-11-20T13:00:00.000Z',
    project: 'shop',
    app: 'shop',
    instance: 'default',
    version: 'v1',
    previous_version: 'v5',
    commit: null,
    subject: null,
    changes: null,
    result: 'success',
    duration_ms: null,
    gap_ms: null,
    user: 'ada',
    trigger: 'rollback',
    stage: null,
    cause: null,
    deploy_id: '00000006',
  });
  assert.is(stderr, '');
  const noted = (await run('runner-history', [], { root })).stderr;
  assert.is(noted, 'runner history: skipped 1 line(s) that are not records\n');
  const since = await run('runner-history', ['--since', '2026-11-20T11:30Z', '--json'], { root });
  assert.is(since.stdout.trimEnd().split('\n').length, 2);
  const unknown = await run('runner-history', ['shpo'], { root });
  assert.equal([unknown.status, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^runner history: no app called 'shpo' .*\(app_not_found\)\n$/);
});

test('without a log there are no deploys; an invalid value gets one sentence', async () => {
  const root = temporaryFolder('history');
  const none = await run('runner-history', [], { root });
  assert.equal([none.status, none.stdout, none.stderr], [0, 'No deploys.\n', '']);
  const wrong = await run('runner-history', ['-n', 'x'], { root });
  assert.is(wrong.status, 2);
  assert.match(wrong.stderr, /^error: invalid value 'x' for '--lines <N>'/);
});

test('a first line without end is cut, but not with --json', async () => {
  const root = temporaryFolder('history');
  const stdin = ['DeployStarted', 'DeployFailure']
    .map((event_type) => {
      const more = event_type === 'DeployFailure' ? { stage: 'build', error: 'x'.repeat(1e6) } : {};
      const own = { project: 'shop', instance: 'default', version: 'v1', deploy_id: '00000001' };
      return `${JSON.stringify({ timestamp: '2026-11-30T10:00:00.000Z', event_type, ...own, ...more })}\n`;
    })
    .join('');
  const human = await run('runner-history', ['-'], { root, stdin });
  assert.ok(human.stdout.length < 1_000, `${human.stdout.length}`);
  assert.match(human.stdout, /x…\n$/);
  assert.ok((await run('runner-history', ['-', '--json'], { root, stdin })).stdout.length > 1e6);
});

test('a pipe without a record is refused, and one with some is read', async () => {
  const root = temporaryFolder('history');
  const piped = (stdin: string) => run('runner-history', ['-'], { root, stdin });
  const junk = await piped('junk\n\n{"a":1}\n');
  assert.equal([junk.status, junk.stdout], [1, '']);
  assert.is(
    junk.stderr,
    'runner history: none of the 2 lines on standard input is a record: put one JSON object on a line, as jq -c does (event_invalid)\n',
  );
  const marked = await piped(`\ufeff${JSON.stringify(RECORDS[2])}\n`);
  assert.equal([marked.status, marked.stdout.includes(' v2 ')], [0, true], marked.stderr);
  assert.match((await piped('{')).stderr, /: the line on standard input is not a record: put one/);
  const some = await piped(`junk\n${JSON.stringify(RECORDS[0])}\n`);
  assert.equal(
    [some.status, some.stderr],
    [0, 'runner history: skipped 1 line(s) that are not records\n'],
  );
  assert.equal((await piped('\n')).stdout, 'No deploys.\n');
});

test('without ids, an end of another version is another deploy', async () => {
  const lone = (kind: string, clock: string, version: string, more = {}) =>
    JSON.stringify({ ...record(kind, clock, '', { version }), deploy_id: undefined, ...more });
  const stdin = [
    lone('DeployStarted', '08:00:00', 'v1'),
    lone('DeploySuccess', '08:00:09', 'v1', { instance: 'eu' }),
    lone('DeploySuccess', '08:00:09', 'v1', { instance: 'us' }),
    lone('DeployFailure', '09:00:00', 'v2', { error: 'no' }),
    lone('DeployFailure', '10:00:00', 'v3', { error: 'no' }),
  ].join('\n');
  const root = temporaryFolder('root');
  const { stdout } = await run('runner-history', ['-', '--json'], { root, stdin });
  const rows = stdout.trim().split('\n');
  assert.equal(
    rows
      .map((line) => JSON.parse(line))
      .map(({ timestamp, version, result }) => [timestamp.slice(11, 16), version, result]),
    [
      ['08:00', 'v1', 'success'],
      ['09:00', 'v2', 'failed'],
      ['10:00', 'v3', 'failed'],
    ],
  );
});

test('on a narrow terminal lines are cut, and failures are red', async () => {
  const root = rootWith(RECORDS);
  const { text } = await runOnTerminal('runner-history', ['shop'], { root, columns: 60 });
  const lines = text.split('\r\n');
  assert.match(lines[2] ?? '', /^\u001b\[31m2026-11-20 09:00:00.*…/);
});

test('on 40 columns the result is not cut, and -n 0 prints nothing', async () => {
  const root = rootWith(RECORDS);
  const { text } = await runOnTerminal('runner-history', ['shop'], { root, columns: 40 });
  assert.match(text, /\n\S*11-20 09:00 +shop +(failed|rolled_back) /);
  const none = await run('runner-history', ['-n', '0'], { root });
  assert.equal([none.status, none.stdout], [0, '']);
});

test('a duration that no clock can show is unknown, and hides no other deploy', async () => {
  const root = temporaryFolder('root');
  const endless = { version: 'v9', duration_ms: 1e308, gap_ms: 1e300 };
  const stdin = [...RECORDS, record('DeploySuccess', '12:00:00', '0000000e', endless)]
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('');
  const { status, stdout, stderr } = await run('runner-history', ['-', '--json'], { root, stdin });
  assert.is(status, 0, stderr);
  const deploys = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(deploys.length > 3);
  assert.equal([deploys.at(-1).version, deploys.at(-1).duration_ms], ['v9', null]);
});

test.run();
