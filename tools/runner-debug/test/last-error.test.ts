import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { found, lastError, rootWithLog } from './last-error.ts';
import { failure, logPath, logText, writeLog } from './log.ts';

test('JSON and YAML have the five fields that are required first, and those of the deploy', async () => {
  const error = 'one\ntwo';
  const root = rootWithLog(
    failure('v2', { error, stage: 'build', commit: 'c0ffee', duration_ms: 1234, truncated: true }),
  );
  const json = await lastError(root, '--json', 'shop');
  assert.is(
    json.stdout,
    `${JSON.stringify({
      app: 'shop',
      version: 'v2',
      timestamp: '2026-05-04T09:30:00.000Z',
      error,
      event: 'DeployFailure',
      truncated: true,
      deploy_id: 'a1b2c3d4',
      stage: 'build',
      commit: 'c0ffee',
      duration_ms: 1234,
      log_command: null,
    })}\n`,
  );
  assert.is((await lastError(root, 'shop', '--output', 'json')).stdout, json.stdout);
  const yaml = await lastError(root, '-o', 'yaml', 'shop');
  assert.is(
    yaml.stdout,
    'app: shop\nversion: v2\ntimestamp: "2026-05-04T09:30:00.000Z"\nerror: |-\n  one\n  two\nevent: DeployFailure\ntruncated: true\ndeploy_id: a1b2c3d4\nstage: build\ncommit: c0ffee\nduration_ms: 1234\nlog_command: null\n',
  );
  assert.equal([json.status, yaml.status, json.stderr + yaml.stderr], [0, 0, '']);
});

test('without a failure the required line is printed with status 0', async () => {
  for (const root of [
    rootWithLog(),
    rootWithLog({ ...failure('v1'), event_type: 'DeploySuccess' }),
  ]) {
    const human = await lastError(root, 'shop');
    assert.equal(
      [human.status, human.stdout, human.stderr],
      [0, 'No DeployFailure found for shop.\n', ''],
    );
    const json = await lastError(root, 'shop', '--json');
    assert.equal([json.status, json.stdout, json.stderr], [0, 'null\n', '']);
    const yaml = await lastError(root, 'shop', '-o', 'yaml');
    assert.equal([yaml.status, yaml.stdout, yaml.stderr], [0, 'null\n', '']);
  }
});

test('the newest failure is shown, whatever followed it', async () => {
  const others = ['DeployStarted', 'DeploySuccess', 'RollbackSuccess', 'GuardBypassed'];
  const root = rootWithLog(
    failure('v1'),
    failure('v2'),
    ...others.map((event_type) => failure('v3', { event_type })),
  );
  assert.is(await found(root), 'v2');
});

test('rotated files are searched, newest first, compressed ones too, also without a live log', async () => {
  const root = rootWithLog({ ...failure('v9'), event_type: 'DeploySuccess' });
  writeLog(root, gzipSync(logText([failure('v1'), failure('v2')])), '.10.gz');
  assert.is(await found(root), 'v2');
  writeLog(root, logText([failure('v3')]), '.9');
  assert.is(await found(root), 'v3');
  writeLog(root, logText([failure('v4'), failure('v5')]), '.1');
  assert.is(await found(root), 'v5');
  rmSync(logPath(root));
  assert.is(await found(root), 'v5');
  writeLog(root, logText([failure('v6')]));
  assert.is(await found(root), 'v6');
  for (const suffix of ['.bak', '.01x', '-20260101', '.', '.1234567', '.1.xz', '.1.gz.tmp']) {
    writeLog(root, logText([failure('foreign')]), suffix);
  }
  assert.is(await found(root), 'v6');
});

test("the app's own token and the master key are redacted, whatever they look like", async () => {
  const root = join(temporaryFolder('debug'), 'root');
  const token = 'our-own-t0ken-of-shop';
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  assert.is((await run('runner-add', args, { root, stdin: token })).status, 0);
  const [key = ''] = readFileSync(join(root, 'mkey'), 'utf8').split('\n');
  const error = `git: ${token} is wrong\n${Buffer.from(token).toString('hex')}\n${key}`;
  writeLog(root, logText([failure(`v1-${token}`, { error })]));
  const { stdout, stderr } = await lastError(root, 'shop', '--json');
  assert.is(stderr, '');
  const { version, error: shown } = JSON.parse(stdout);
  assert.equal(
    [version, shown],
    ['v1-[REDACTED]', 'git: [REDACTED] is wrong\n[REDACTED]\n[REDACTED]'],
  );
  const log = `Error: ${token} and ${key}\n`;
  const extract = await run('runner-debug', ['extract', '--app', 'shop'], { root, stdin: log });
  assert.is(extract.stdout, 'Error: [REDACTED] and [REDACTED]\n');
  // Without its key a token cannot be known; the failure is still shown.
  rmSync(join(root, 'mkey'));
  const without = await lastError(root, 'shop', '--json');
  assert.equal([without.status, JSON.parse(without.stdout).error], [0, error]);
});

for (const [args, sentence] of [
  [
    [],
    'the following required arguments were not provided: <APP>; usage: runner debug last-error [OPTIONS] <APP>',
  ],
  [['shop', '--root', ''], "a value is required for '--root <DIR>' but none was supplied"],
  [['shop', 'api'], "unexpected argument 'api' found"],
  [
    ['shop', '-o', 'xml'],
    "invalid value 'xml' for '--output <FORMAT>' [possible values: human, json, yaml]",
  ],
  [
    ['shop', '--json', '-o', 'yaml'],
    "the argument '--json' cannot be used with '--output <FORMAT>'",
  ],
] as const) {
  test(`wrong usage: last-error ${args.join(' ')}`, async () => {
    const { status, stderr } = await lastError(rootWithLog(), ...args);
    assert.equal([status, stderr], [2, `error: ${sentence}\n`]);
  });
}

test.run();
