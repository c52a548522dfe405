import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DEPLOYING, writeState } from '@runner/testing/app-states';
import { asNobody, run, shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';
import { deploy, event, problemsOf, verify } from './verify.ts';

test('both field namings are read, blank lines are skipped, and the last newline is optional', async () => {
  const root = rootWithLog(
    `\n${line({ timestamp: '2026-05-04T09:30:00Z', event: 'DeployStarted', app: 'shop', deploy_id: 'aaaaaaaa' })}\r\n \n${JSON.stringify({ timestamp: '2026-05-04T09:31:00Z', event: 'DeploySuccess', app: 'shop', deploy_id: 'aaaaaaaa' })}`,
  );
  assert.equal(await problemsOf(root), []);
});

test('a line of zeros is reported, and a record with two names that differ', async () => {
  const root = rootWithLog(
    `${event('GuardBypassed', undefined)}\0\0\0\n${event('DeployStarted', undefined, { event: 'DeploySuccess', app: 'blog' })}${event('DeployStarted', undefined, { event: 'DeployStarted', app: 'shop' })}${event('DeployStarted', undefined, { timestamp: undefined })}`,
  );
  assert.equal(await problemsOf(root), [
    'log:2: the line is not a JSON object',
    'log:3: the record has two different values in event_type and event',
    'log:3: the record has two different values in project and app',
    'log:5: the record has no timestamp',
  ]);
  for (const name of ['list', 'tail']) {
    const { stderr } = await run('runner-audit', [name], { root });
    assert.is(stderr, `runner audit ${name}: skipped 1 line(s) that are not records\n`);
  }
});

test('read access to the log alone is enough to verify it, and stderr says what is assumed', async () => {
  if (process.getuid?.() !== 0) return void process.stdout.write('(left out: needs root)\n');
  const root = rootWithLog(
    event('DeployStarted', 'aaaaaaaa') + event('DeployStarted', 'bbbbbbbb') + deploy('cccccccc'),
  );
  writeState(root, 'shop', { deploying: DEPLOYING });
  appendFileSync(logPath(root), event('DeployStarted', DEPLOYING.deploy_id));
  for (const path of ['logs', 'logs/deploy-events.jsonl']) chmodSync(join(root, path), 0o755);
  mkdirSync(join(root, 'spool'), { mode: 0o700 });
  const verifyAsNobody = () => shell(`${asNobody('runner-audit')} verify`, { root });
  const problems =
    'deploy-events.jsonl:1: deploy aaaaaaaa started but has no end\ndeploy-events.jsonl:2: deploy bbbbbbbb started but has no end\n2 problems: 5 records, 4 deploys, 1 file, 1 in progress\n';
  for (const [folder, file, why] of [
    [0o700, 0o644, `folder ${root}/state: permission denied`],
    [0o755, 0o600, `${root}/state/shop.json: permission denied`],
    [0o755, 0o644, `folder ${root}/spool/audit: permission denied`],
  ] as const) {
    chmodSync(join(root, 'state'), folder);
    chmodSync(join(root, 'state/shop.json'), file);
    const { status, stdout, stderr } = await verifyAsNobody();
    const known = `assuming that the newest start of each app is a deploy in progress: cannot read`;
    const said = stderr.replace('cannot read the ', 'cannot read ');
    assert.is(said, `runner audit verify: ${known} ${why}\n`);
    assert.equal([status, stdout], [1, problems]);
  }
  assert.equal((await verify(root)).stdout, problems);
});

test('records from before ids existed are not a problem', async () => {
  const root = rootWithLog(event('DeployFailure', undefined) + event('DeployStarted', undefined));
  assert.equal(await problemsOf(root), []);
});

test('an end that waited for the log is appended first and can be late', async () => {
  const root = rootWithLog(event('DeployStarted', 'aaaaaaaa'));
  const kept = event('DeployFailure', 'aaaaaaaa', { late: true });
  writeFileSync(logPath(root), deploy('bbbbbbbb'), { flag: 'a' });
  mkdirSync(join(root, 'spool/audit'), { recursive: true });
  writeFileSync(join(root, 'spool/audit/20260504-aaaaaaaa-DeployFailure.jsonl'), kept);
  assert.equal(await problemsOf(root), []);
});

test('a rollback by hand that failed is the end of no deploy', async () => {
  const root = rootWithLog(event('DeployFailure', 'aaaaaaaa', { from_version: 'v2' }));
  assert.equal(await problemsOf(root), []);
});

test('only the oldest starts can have been rotated away', async () => {
  const other = (kind: string, id: string) => event(kind, id, { project: 'blog' });
  const oldest =
    event('DeploySuccess', 'aaaaaaaa') +
    event('DeployFailure', 'a2a2a2a2') +
    event('DeployStarted', 'bbbbbbbb') +
    other('DeploySuccess', 'cccccccc') +
    event('DeploySuccess', 'dddddddd');
  const newer = event('DeploySuccess', 'bbbbbbbb') + event('DeploySuccess', 'eeeeeeee');
  const alone = rootWithLog(oldest + newer);
  assert.is((await problemsOf(alone)).length, 5);
  const root = rootWithLog(newer);
  writeFileSync(`${logPath(root)}.1.gz`, gzipSync(oldest));
  assert.equal(await problemsOf(root), [
    'log.1.gz:5: deploy dddddddd ended but has no DeployStarted',
    'log:2: deploy eeeeeeee ended but has no DeployStarted',
  ]);
  const { rotated_away, files } = JSON.parse((await verify(root, '--json')).stdout);
  assert.equal([rotated_away, files], [3, ['deploy-events.jsonl.1.gz', 'deploy-events.jsonl']]);
});

test('two writers can swap events within ten seconds, but not more', async () => {
  let number = 10;
  const at = (time: string) => {
    number += 1;
    const more = { event_type: 'RollbackSuccess', deploy_id: `aaaaaa${number}` };
    return line(record('v1', { ...more, timestamp: `2026-05-04T09:30:${time}Z` }));
  };
  assert.equal(await problemsOf(rootWithLog(at('15.000') + at('05.001') + at('09.500'))), []);
  assert.equal(
    (await problemsOf(rootWithLog(at('15.000') + at('05.000') + at('09.500')))).length,
    1,
  );
  // Nor in many small steps.
  const drift = ['15.000', '10.500', '05.001', '04.999', '03.500'].map(at).join('');
  assert.equal(await problemsOf(rootWithLog(drift)), [
    'log:4: the time 2026-05-04T09:30:04.999Z is before that of an earlier record, 2026-05-04T09:30:15.000Z',
  ]);
});

test('a rotated file that cannot be opened is a problem, and the others are checked', async () => {
  const root = rootWithLog(deploy('aaaaaaaa') + event('DeployStarted', 'bbbbbbbb'));
  mkdirSync(`${logPath(root)}.1`);
  assert.equal(await problemsOf(root), [
    'log:3: deploy bbbbbbbb started but has no end',
    'log.1:0: the file cannot be read: it is not a file',
  ]);
});

test('at most 1,000 problems are printed, and all are counted', async () => {
  const root = rootWithLog('x\n'.repeat(5000));
  const { status, stdout } = await verify(root);
  const lines = stdout.trimEnd().split('\n');
  assert.is(lines.length, 1002);
  assert.equal(lines.slice(999), [
    'deploy-events.jsonl:1000: the line is not a JSON object',
    'and 4000 further problems',
    '5000 problems: 0 records, 0 deploys, 1 file',
  ]);
  assert.is(status, 1);
});

test('memory does not grow with the log, nor with the length of a line', async () => {
  const root = rootWithLog('');
  const block = (from: number) =>
    Array.from({ length: 10_000 }, (_, index) =>
      deploy((from + index).toString(16).padStart(8, '0')),
    ).join('');
  // 24 MB of records and a line of 24 MB.
  for (let number = 0; number < 6; number += 1)
    appendFileSync(logPath(root), block(number * 10_000));
  appendFileSync(logPath(root), 'x'.repeat(24_000_000));
  appendFileSync(logPath(root), `\n${deploy('zzzzzzzz')}`);
  const env = { NODE_OPTIONS: '--max-old-space-size=24' };
  const checked = await run('runner-audit', ['verify'], { root, env });
  assert.is(
    checked.stdout,
    'deploy-events.jsonl:120001: the line is longer than 16 MiB\n1 problem: 120002 records, 60001 deploys, 1 file\n',
  );
  assert.equal([checked.status, checked.stderr], [1, '']);
  const listed = await shell('runner-audit list --json | wc -l', { root, env });
  assert.is(listed.stdout.trim(), '120002');
  assert.is(listed.stderr, 'runner audit list: skipped 1 line(s) that are not records\n');
  const few = await shell('runner-audit list --json -n 2', { root, env });
  assert.equal(few.stdout.match(/zzzzzzzz/g)?.length, 2);
});

test('a deploy is forgotten long after its end: an id that recurs by chance is not a problem', async () => {
  const first = event('DeployStarted', 'bbbbbbbb') + deploy('aaaaaaaa');
  const others = Array.from({ length: 20_001 }, (_, index) =>
    deploy(index.toString(16).padStart(8, '0')),
  ).join('');
  const last = deploy('aaaaaaaa') + event('DeploySuccess', 'bbbbbbbb');
  const root = rootWithLog(first + others + last);
  const { status, stdout } = await verify(root);
  assert.equal([status, stdout], [0, 'whole: 40008 records, 20004 deploys, 1 file\n']);
});

test('without a log there is nothing to verify', async () => {
  const { status, stderr } = await verify(newRoot());
  assert.match(
    stderr,
    /^runner audit verify: there is no audit log yet: [^\n]+ \(log_not_found\)\n$/,
  );
  assert.is(status, 1);
});

test.run();
