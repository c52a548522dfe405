import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EMITTED_TYPES } from '@runner/common/audit/events';
import { run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { emit, record, SHOP } from './emit.ts';
import { line, logOf, logPath, newRoot, unlinked } from './log.ts';

test('an event is completed, appended and echoed as the same line of JSON', async () => {
  const root = newRoot();
  const before = Date.now();
  const { status, stdout, stderr } = await emit(root, ['DeployStarted', ...SHOP]);
  assert.equal([status, stderr], [0, '']);
  assert.is(logOf(root), stdout);
  const { timestamp, deploy_id, ...rest } = JSON.parse(stdout);
  assert.equal(rest, {
    event_type: 'DeployStarted',
    project: 'shop',
    instance: 'default',
    version: 'v1',
    event: 'DeployStarted',
    app: 'shop',
    source: 'emit',
    seq: 1,
    prev: '0'.repeat(32),
  });
  assert.is(new Date(timestamp).toISOString(), timestamp);
  assert.ok(Date.parse(timestamp) >= before - 1 && Date.parse(timestamp) <= Date.now());
  assert.match(deploy_id, /^[0-9a-f]{8}$/);
  assert.is(stdout, line(JSON.parse(stdout)));
  assert.equal(
    [logPath(root), join(root, 'logs')].map((path) => statSync(path).mode & 0o777),
    [0o640, 0o750],
  );
});

test('every option sets the documented field', async () => {
  const root = newRoot();
  const options = {
    project: 'shop',
    instance: 'eu-1',
    version: 'v2',
    'deploy-id': 'A1b2-_d4',
    timestamp: '2026-05-04T11:30:00+02:00',
    'previous-version': 'v1',
    'from-version': 'v3',
    commit: '0123456789ab',
    trigger: 'manual',
    'duration-ms': '1500',
    domain: 'shop.example.org',
    stage: 'health',
    reason: 'it did not answer',
    error: 'health: 503',
    source: 'make',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const { stdout, stderr } = await emit(root, ['DeployFailure', ...args]);
  assert.is(stderr, '');
  assert.equal(JSON.parse(stdout), {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: 'DeployFailure',
    project: 'shop',
    instance: 'eu-1',
    version: 'v2',
    deploy_id: 'A1b2-_d4',
    event: 'DeployFailure',
    app: 'shop',
    previous_version: 'v1',
    from_version: 'v3',
    commit: '0123456789ab',
    trigger: 'manual',
    duration_ms: 1500,
    domain: 'shop.example.org',
    stage: 'health',
    reason: 'it did not answer',
    error: 'health: 503',
    source: 'make',
    seq: 1,
    prev: '0'.repeat(32),
  });
  assert.is(logOf(root), stdout);
});

test("a token is redacted as a field's name too, and no field is lost by that", async () => {
  const root = newRoot();
  const token = 'our-own-t0ken-of-shop';
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  assert.is((await run('runner-add', args, { root, stdin: token })).status, 0);
  const names = { [token]: 1, [`https://x:${token}@example.org`]: 2, [`${token}${token}`]: 3 };
  const given = record('v1', { ...names, deep: [names], build: 7 });
  const { status, stdout } = await emit(root, [], { stdin: line(given) });
  const shown = { '[REDACTED]': 1, 'https://[REDACTED]@example.org': 2, '[REDACTED][REDACTED]': 3 };
  assert.is(status, 0);
  assert.equal(JSON.parse(unlinked(stdout)), record('v1', { ...shown, deep: [shown], build: 7 }));
  const twice = record('v1', { [token]: 1, [Buffer.from(token).toString('hex')]: 2 });
  const { stdout: both } = await emit(root, [], { stdin: line(twice) });
  assert.equal(JSON.parse(unlinked(both)), record('v1', { '[REDACTED]': 1, '[REDACTED] 2': 2 }));
});

test('lines of JSON on standard input are appended and echoed in their order', async () => {
  const root = newRoot();
  const lines = ['v1', 'v2', 'v3'].map((version) => line(record(version))).join('');
  const { status, stdout, stderr } = await emit(root, [], { stdin: lines });
  assert.equal([status, unlinked(stdout), stderr], [0, lines, '']);
  assert.is(logOf(root), stdout);
});

test('bad lines are reported by number, the others are logged, and the status is 1', async () => {
  const root = newRoot();
  const bad = [
    'nonsense',
    '[]',
    '"text"',
    'null',
    '{"event_type":"Party","project":"shop","version":"v1"}',
    '{"event_type":"GuardBypassed","project":"shop","version":"v1"}',
    '{"event_type":"DeployStarted","version":"v1"}',
    '{"event_type":"DeployStarted","project":"../x","version":"v1"}',
    '{"event_type":"DeployStarted","project":"shop"}',
    '{"event_type":"DeployStarted","project":"shop","version":7}',
    '{"event_type":"DeployStarted","project":"shop","version":"v1","deploy_id":"x"}',
    '{"event_type":"DeployStarted","project":"shop","version":"v1","timestamp":"2026-02-30T00:00:00Z"}',
    '{"event_type":"DeployStarted","project":"shop","version":"v1","error":5}',
    '{"event_type":"DeployStarted","project":"shop","version":"v1","duration_ms":-1}',
    '{"event_type":"DeployStarted","project":"shop","app":"blog","version":"v1"}',
  ];
  const stdin = `${line(record('v1'))}${bad.join('\n')}\n\n  \n${line(record('v2'))}`;
  const { status, stdout, stderr } = await emit(root, [], { stdin });
  assert.is(unlinked(stdout), line(record('v1')) + line(record('v2')));
  assert.is(logOf(root), stdout);
  const kinds = EMITTED_TYPES.join(', ');
  const sentences = [
    'is not JSON',
    'is not a JSON object',
    'is not a JSON object',
    'is not a JSON object',
    `needs an event_type that is one of ${kinds}`,
    `needs an event_type that is one of ${kinds}`,
    'needs a text in project',
    'needs a project that is an app name',
    'needs a text in version',
    'needs a text in version',
    'needs a deploy_id of 8 letters or digits',
    'needs a timestamp in ISO 8601 with a zone',
    'needs a text in error',
    'needs a number of milliseconds in duration_ms',
    'has two different values in project and app',
  ];
  assert.is(
    stderr,
    sentences
      .map(
        (text, index) =>
          `runner audit emit: line ${index + 2}: the event ${text} (event_invalid)\n`,
      )
      .join(''),
  );
  assert.is(status, 1);
});

test('a line that is nested too deeply is a bad line, and the others are logged', async () => {
  const root = newRoot();
  const nested = (levels: number) =>
    `${line(record('v1')).slice(0, -2)},"x":${'['.repeat(levels)}${']'.repeat(levels)}}\n`;
  const stdin = [line(record('v1')), nested(102), nested(5_000), nested(100)].join('');
  const { status, stdout, stderr } = await emit(root, [], { stdin });
  const bad = 'the event is nested deeper than 100 levels (event_invalid)';
  assert.is(stderr, [2, 3].map((at) => `runner audit emit: line ${at}: ${bad}\n`).join(''));
  assert.equal([status, unlinked(stdout)], [1, line(record('v1')) + nested(100)]);
  assert.is(logOf(root), stdout);
});

test('a fraction or exponent with many digits beside a long integer is not one itself', async () => {
  const numbers = '"ns":1700000000000000000,"ratio":0.9333333333333333,"all":[-0.9333333333333333]';
  const texts = '"text":"x\\"1700000000000000000: 0.9333333333333333"';
  const stdin = `{"event":"DeploySuccess","app":"shop","version":"v1",${numbers},${texts}}\n`;
  const tiny = stdin.replace('}', ',"tiny":1e-1700000000000000000}');
  const { status, stdout, stderr } = await emit(newRoot(), [], { stdin: stdin + tiny });
  assert.equal([status, stderr], [0, '']);
  assert.is(stdout.split(`${numbers},${texts}`).length, 3, stdout);
});

test('empty input is not a failure and writes no log', async () => {
  for (const stdin of ['', '\n', '\n \n\r\n']) {
    const root = newRoot();
    const { status, stdout, stderr } = await emit(root, [], { stdin });
    assert.equal([status, stdout, stderr], [0, '', '']);
    assert.not.ok(existsSync(logPath(root)));
  }
});

for (const [args, sentence] of [
  [
    ['DeployStarted', '--project', 'shop'],
    'the following required arguments were not provided: --version <VERSION>',
  ],
  [
    ['DeployStarted', '--version', 'v1'],
    'the following required arguments were not provided: --project <APP>',
  ],
  [
    ['Party', ...SHOP],
    "invalid value 'Party' for '[EVENT]' [possible values: DeployStarted, DeploySuccess, DeployFailure, RollbackSuccess, AppDown, AppUp, ApprovalWanted, CertEnding, CheckRecovered, DeployWaiting, HeadBehind, JobFailed, JobMissed, JobRecovered, JobSlow, PlanApproved, PlanExpired, TagChanged, TokenEnding, TokenRenewed, WatchEnded, WatchFailed, WatchPassed, AppStarted, AppStopped, AppRestarted, ContractRun, TrafficHeld, TrafficReleased, PreviewReady, PreviewFailed, PreviewRemoved]",
  ],
  [
    ['DeployStarted', '--project', '../x', '--version', 'v1'],
    'the event needs a project that is an app name',
  ],
  [
    ['DeployStarted', ...SHOP, '--deploy-id', 'x'],
    'the event needs a deploy_id of 8 letters or digits',
  ],
  [
    ['DeployStarted', ...SHOP, '--timestamp', 'yesterday'],
    'the event needs a timestamp in ISO 8601 with a zone',
  ],
  [
    ['DeployStarted', ...SHOP, '--timestamp', '2026-02-30T00:00:00Z'],
    'the event needs a timestamp in ISO 8601 with a zone',
  ],
  [
    ['DeployStarted', ...SHOP, '--timestamp', '9999-12-31T23:30:00-05:00'],
    'the event needs a timestamp of the years 0 to 9999 in UTC',
  ],
  [
    ['DeployStarted', ...SHOP, '--version=x', '--instance', 'x'],
    "the argument '--version <VERSION>' cannot be used multiple times",
  ],
  [
    ['DeployStarted', ...SHOP, '--duration-ms', 'long'],
    "invalid value for '--duration-ms <N>': it must be a whole number",
  ],
  [
    ['DeployStarted', ...SHOP, '--instance', ''],
    "a value is required for '--instance <NAME>' but none was supplied",
  ],
  [['--project', 'shop'], "the argument '--project' needs <EVENT>"],
  [['DeployStarted', 'DeploySuccess', ...SHOP], "unexpected argument 'DeploySuccess' found"],
] as const) {
  test(`refused, and nothing is written: emit ${args.join(' ')}`, async () => {
    const root = temporaryFolder('audit');
    const ended = await emit(root, args);
    assert.equal([ended.status, ended.stdout, ended.stderr], [2, '', `error: ${sentence}\n`]);
    assert.equal(tree(root), {});
  });
}

test.run();
