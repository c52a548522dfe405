import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeState } from '@runner/testing/app-states';
import { run, shell } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { runOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { at, list, variedRoot, versions } from './list.ts';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';

test('on a terminal app names are shortened, so that no line wraps and all columns show', async () => {
  const instance = 'production-europe-west-1';
  const root = rootWithLog(line(record('0123456789ab', { project: 'checkout', instance })));
  const { text } = await runOnTerminal('runner-audit', ['list'], { root, env: { NO_COLOR: '1' } });
  assert.equal(text.split('\r\n'), [
    'TIME (UTC)           EVENT          APP                   VERSION       DEPLOY',
    '2026-05-04 09:30:00  DeployStarted  checkout/production…  0123456789ab  a1b2c3d4',
    '',
  ]);
});

test('on a narrow terminal the time is short and long names are cut, never the id of the deploy', async () => {
  const root = rootWithLog(
    at('2026-05-04T09:30:00Z', 'v1', { event_type: 'RollbackSuccess', instance: 'production' }) +
      at('soon', '0123456789ab'),
  );
  for (const [columns, lines] of [
    [
      60,
      [
        'TIME (UTC)   EVENT            APP         VERSION   DEPLOY',
        '05-04 09:30  RollbackSuccess  shop/prod…  v1        a1b2c3d4',
        'soon         DeployStarted    shop        0123456…  a1b2c3d4',
      ],
    ],
    [
      50,
      [
        'TIME (UTC)   EVENT      APP     VERSION   DEPLOY',
        '05-04 09:30  Rollback…  shop/…  v1        a1b2c3d4',
        'soon         DeploySt…  shop    0123456…  a1b2c3d4',
      ],
    ],
  ] as const) {
    const env = { NO_COLOR: '1' };
    const { text } = await runOnTerminal('runner-audit', ['list'], { root, env, columns });
    assert.equal(text.split('\r\n'), [...lines, '']);
  }
});

test('times are shown in UTC, and read in it where they name no zone', async () => {
  const root = rootWithLog(
    at('2026-05-04T09:30:00+02:00', 'v1') +
      at('2026-05-04 08:00:00', 'v2') +
      at('2026-05-04T08:30', 'v3'),
  );
  for (const TZ of ['Asia/Tokyo', 'America/New_York', undefined]) {
    const read = (...args: string[]) => run('runner-audit', args, { root, env: { TZ } });
    assert.equal((await read('list')).stdout.match(/\d{4}-\S+ \S+|\bv\d/g), [
      ...['2026-05-04 07:30:00', 'v1', '2026-05-04 08:00:00', 'v2', '2026-05-04 08:30:00', 'v3'],
    ]);
    assert.equal((await read('tail')).stdout.match(/^\S+Z /gm), [
      ...['2026-05-04T07:30:00.000Z ', '2026-05-04T08:00:00.000Z ', '2026-05-04T08:30:00.000Z '],
    ]);
    const since = await read('list', '--json', '--since', '2026-05-04T08:00Z');
    assert.is(since.stdout.split('\n').length, 3);
    const until = await read('list', '--json', '--until', '2026-05-04T08:00');
    assert.is(until.stdout.split('\n').length, 3);
  }
});

test('a record without a time that can be read is in no period', async () => {
  const root = rootWithLog(
    line(record('v1', { timestamp: 'yesterday' })) + line(record('v2', { timestamp: undefined })),
  );
  assert.equal(await versions(root), ['v1', 'v2']);
  assert.equal(await versions(root, '--since', '2000-01-01'), []);
  assert.match(
    (await list(root)).stdout,
    /\nyesterday +DeployStarted +shop +v1 .*\n- +DeployStarted/,
  );
});

test('lines that are not records are skipped and counted', async () => {
  const root = rootWithLog(`${line(record('v1'))}torn {"x\n[]\n\n \n${line(record('v2'))}{"half":`);
  for (const args of [[], ['--json'], ['-n', '5']]) {
    const { status, stdout, stderr } = await list(root, ...args);
    assert.is(stderr, 'runner audit list: skipped 3 line(s) that are not records\n');
    assert.match(stdout, /v1[\s\S]*v2/);
    assert.is(status, 0);
  }
});

test('a damaged compressed file is read as far as it goes, and what follows it too', async () => {
  const root = rootWithLog(line(record('v9')));
  const text = Array.from({ length: 5000 }, (_, index) =>
    line(record(`v${index}`, { error: String(Math.sin(index)) })),
  ).join('');
  const whole = gzipSync(text);
  writeFileSync(`${logPath(root)}.1.gz`, whole.subarray(0, whole.length - 1000));
  const { status, stdout, stderr } = await list(root, '--json');
  const lines = stdout.trimEnd().split('\n');
  assert.ok(lines.length > 1000);
  assert.is(lines.at(-1), JSON.stringify(record('v9')));
  assert.match(
    stderr,
    /^runner audit list: deploy-events\.jsonl\.1\.gz cannot be read to the end: it is damaged or cut short\n/,
  );
  assert.is(status, 0);
});

test('anything else in place of a rotated file is skipped and reported', async () => {
  const root = rootWithLog(line(record('v9')));
  mkdirSync(`${logPath(root)}.1`);
  assert.is((await shell(`mkfifo '${logPath(root)}.2'`)).status, 0);
  rootWithLog(line(record('v1')), '.3', root);
  symlinkSync(logPath(root), `${logPath(root)}.4`);
  const told = (name: string) =>
    ['.4: it is a symbolic link', '.2: it is not a file', '.1: it is not a file']
      .map((end) => `runner audit ${name}: skipped deploy-events.jsonl${end}\n`)
      .join('');
  for (const [name, ...args] of [['list'], ['list', '-n', '5'], ['tail']] as const) {
    const { status, stdout, stderr } = await run('runner-audit', [name, '--json', ...args], {
      root,
    });
    assert.equal(stdout, line(record('v1')) + line(record('v9')));
    assert.equal([status, stderr], [0, told(name)]);
  }
  const only = newRoot();
  mkdirSync(`${logPath(only)}.1`, { recursive: true });
  const { status, stdout, stderr } = await list(only);
  assert.equal([status, stdout], [0, 'No such events.\n']);
  assert.match(stderr, /skipped deploy-events\.jsonl\.1: it is not a file\n$/);
  const live = newRoot();
  mkdirSync(join(live, 'logs'), { recursive: true });
  symlinkSync(logPath(root), logPath(live));
  const message = `cannot read ${logPath(live)}: it is a symbolic link (file_unreadable)`;
  assert.equal((await list(live)).stderr, `runner audit list: ${message}\n`);
});

test('an app that is neither registered nor in the log is named', async () => {
  const root = rootWithLog(line(record('v1')));
  const unknown = await list(root, '--project', 'sho');
  assert.equal(
    [unknown.status, unknown.stdout, unknown.stderr],
    [
      0,
      'No such events.\n',
      "runner audit list: no app called 'sho' is registered on this server\n",
    ],
  );
  assert.is((await list(root, '--project', 'shop')).stderr, '');
  writeState(root, 'sho');
  assert.is((await list(root, '--project', 'sho')).stderr, '');
});

test('a reader that has seen enough ends it quietly', async () => {
  const many = Array.from({ length: 50_000 }, (_, index) => line(record(`v${index}`))).join('');
  const root = rootWithLog(many);
  for (const option of ['--json', '--color=never', '-oyaml']) {
    const script = `{ runner-audit list ${option}; echo "status $?" >&2; } | head -1`;
    const { stdout, stderr } = await shell(script, { root });
    assert.is(stdout.split('\n').length, 2);
    assert.is(stderr, 'status 0\n');
  }
});

test('the content of a record cannot control the terminal', async () => {
  const evil = 'a\u001b[2J\u202eb\nc';
  const root = rootWithLog(
    line(record(evil, { project: evil, instance: evil, event_type: evil, deploy_id: evil })),
  );
  for (const args of [[], ['--json'], ['-o', 'yaml']]) {
    const { stdout } = await list(root, ...args);
    assert.not.match(stdout, /[\u001b\u202e]/);
  }
  assert.is((await list(root)).stdout.split('\n').length, 3);
});

test('it writes nothing except events that waited for the log', async () => {
  const root = variedRoot();
  const before = tree(root, { modes: true });
  await list(root);
  assert.equal(tree(root, { modes: true }), before);
});

test('with --json each record is a line as in the log, an old one with both names; YAML has one document per record', async () => {
  const odd = { event: 'DeployStarted', app: 'shop', version: 'v1', more: [1, null] };
  const root = rootWithLog(` ${JSON.stringify(odd)} \r\n\n`);
  const both = { ...odd, event_type: 'DeployStarted', project: 'shop' };
  assert.is((await list(root, '--json')).stdout, line(both));
  assert.is((await list(root, '-o', 'json')).stdout, line(both));
  assert.is(
    (await list(root, '-o', 'yaml')).stdout,
    '---\nevent: DeployStarted\napp: shop\nversion: v1\nmore:\n  - 1\n  - null\nevent_type: DeployStarted\nproject: shop\n',
  );
});

test('how long ago is counted from now', async () => {
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const times = [10 * 24, 8 * 24, 6 * 24, 3, 1, 0.1, -1];
  const root = rootWithLog(times.map((hours, index) => at(ago(hours), `v${index}`)).join(''));
  assert.equal(await versions(root, '--since', '7d'), ['v2', 'v3', 'v4', 'v5', 'v6']);
  assert.equal(await versions(root, '--since', '2h'), ['v4', 'v5', 'v6']);
  assert.equal(await versions(root, '--since', '30m', '--until', '0s'), ['v5']);
  assert.equal(await versions(root, '--since', '1w', '--until', '100m'), ['v2', 'v3']);
  const noon = (days: number) =>
    `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T12:00:00Z`;
  const daily = rootWithLog([2, 1, 0].map((days) => at(noon(days), `d${days}`)).join(''));
  assert.equal(await versions(daily, '--since', 'yesterday'), ['d1', 'd0']);
  assert.equal(await versions(daily, '--since', 'yesterday', '--until', 'yesterday'), ['d1']);
});

test('rotated files, compressed or not, are read oldest first, each record once', async () => {
  const root = rootWithLog(line(record('v5')));
  const put = (suffix: string, ...names: string[]) => {
    const text = names.map((name) => line(record(name))).join('');
    writeFileSync(logPath(root) + suffix, suffix.endsWith('.gz') ? gzipSync(text) : text);
  };
  put('.10.gz', 'v0', 'v1');
  put('.2.gz', 'v2', 'v3');
  put('.1', 'v4');
  // Seen while logrotate compresses: the plain file goes when the other is whole.
  put('.1.gz', 'v4');
  put('.bak', 'foreign');
  put('-20260101', 'foreign');
  assert.equal(await versions(root), ['v0', 'v1', 'v2', 'v3', 'v4', 'v5']);
  assert.equal(await versions(root, '-n', '3'), ['v3', 'v4', 'v5']);
  assert.equal(await versions(root, '-n', '5'), ['v1', 'v2', 'v3', 'v4', 'v5']);
  rmSync(logPath(root));
  assert.equal(await versions(root, '-n', '1'), ['v4']);
});

test.run();
