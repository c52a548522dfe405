import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DEPLOYING, INTERRUPTED, writeState } from '@runner/testing/app-states';
import { asNobody, run, shell } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { line, logPath, newRoot, record, rootWithLog } from './log.ts';

const verify = (root: string, ...args: string[]) =>
  run('runner-audit', ['verify', ...args], { root });

/** The problems of a log, as `line: message`. */
async function problemsOf(root: string): Promise<string[]> {
  const { status, stdout, stderr } = await verify(root, '--json');
  const { ok, problem_count, problems } = JSON.parse(stdout);
  assert.is(stderr, '');
  assert.equal([ok, status, problem_count], [problems.length === 0, ok ? 0 : 1, problems.length]);
  return problems.map(
    ({ file, line: number, message }: { file: string; line: number; message: string }) =>
      `${file.replace('deploy-events.jsonl', 'log')}:${number}: ${message}`,
  );
}

let seconds = 0;
/** An event a second later than the one before. */
function event(event_type: string, deploy_id: string | undefined, more: object = {}): string {
  seconds += 1;
  const timestamp = new Date(1_777_000_000_000 + seconds * 1000).toISOString();
  return line(record('v1', { timestamp, event_type, deploy_id, ...more }));
}
const deploy = (id: string, end = 'DeploySuccess') => event('DeployStarted', id) + event(end, id);

test('a whole log is counted, and the status is 0', async () => {
  const root = rootWithLog(
    deploy('aaaaaaaa') +
      deploy('bbbbbbbb', 'DeployFailure') +
      event('RollbackSuccess', 'bbbbbbbb') +
      event('RollbackSuccess', 'cccccccc') +
      event('GuardBypassed', 'dddddddd'),
  );
  const before = tree(root, { modes: true });
  const { status, stdout, stderr } = await verify(root);
  assert.equal([status, stdout, stderr], [0, 'whole: 7 records, 2 deploys, 1 file\n', '']);
  const json = JSON.parse((await verify(root, '--json')).stdout);
  assert.equal(json, {
    ok: true,
    files: ['deploy-events.jsonl'],
    lines: 7,
    records: 7,
    deploys: 2,
    running: 0,
    rotated_away: 0,
    torn: 0,
    chain: null,
    anchor_digits: null,
    problem_count: 0,
    problems: [],
  });
  assert.match(
    (await verify(root, '-o', 'yaml')).stdout,
    /^ok: true\nfiles:\n {2}- deploy-events\.jsonl\nlines: 7\n/,
  );
  assert.equal(tree(root, { modes: true }), before);
});

test('every kind of problem is reported with file and line, and the status is 1', async () => {
  const text = [
    event('DeployStarted', 'aaaaaaaa'),
    '{"torn\n',
    event('DeployStarted', 'aaaaaaaa'),
    event('DeploySuccess', 'aaaaaaaa'),
    event('DeployFailure', 'aaaaaaaa'),
    event('DeployFailure', 'bbbbbbbb'),
    event('DeployStarted', 'eeeeeeee'),
    '[]\n',
    '{}\n',
    event('DeployStarted', 'cccccccc', { timestamp: 'noon' }),
    event('DeployStarted', 'dddddddd', { timestamp: '2026-01-01T00:00:00Z' }),
    deploy('ffffffff'),
    '{"half":',
  ].join('');
  const root = rootWithLog(text);
  const timeAbove = JSON.parse(text.split('\n')[6] ?? '').timestamp;
  const { status, stdout, stderr } = await verify(root);
  assert.is(
    stdout,
    `deploy-events.jsonl:2: the line is not a JSON object
deploy-events.jsonl:3: deploy aaaaaaaa has a second DeployStarted
deploy-events.jsonl:5: deploy aaaaaaaa has a second end
deploy-events.jsonl:6: deploy bbbbbbbb ended but has no DeployStarted
deploy-events.jsonl:7: deploy eeeeeeee started but has no end
deploy-events.jsonl:8: the line is not a JSON object
deploy-events.jsonl:9: the record has no event_type, project, timestamp
deploy-events.jsonl:10: the time 'noon' cannot be read
deploy-events.jsonl:10: deploy cccccccc started but has no end
deploy-events.jsonl:11: the time 2026-01-01T00:00:00Z is before that of an earlier record, ${timeAbove}
deploy-events.jsonl:11: deploy dddddddd started but has no end
deploy-events.jsonl:14: the line is not a JSON object
12 problems: 11 records, 6 deploys, 1 file
`,
  );
  assert.equal([status, stderr], [1, '']);
  const { problems } = JSON.parse((await verify(root, '--json')).stdout);
  assert.equal(
    problems.map(({ problem }: { problem: string }) => problem),
    [
      'not_json',
      'duplicate_id',
      'duplicate_id',
      'no_start',
      'no_end',
      'not_json',
      'not_event',
      'not_event',
      'no_end',
      'time_order',
      'no_end',
      'not_json',
    ],
  );
});

test('both field namings are read, blank lines are skipped, and the last newline is optional', async () => {
  const root = rootWithLog(
    `\n${line({ timestamp: '2026-05-04T09:30:00Z', event: 'DeployStarted', app: 'shop', deploy_id: 'aaaaaaaa' })}\r\n \n${JSON.stringify({ timestamp: '2026-05-04T09:31:00Z', event: 'DeploySuccess', app: 'shop', deploy_id: 'aaaaaaaa' })}`,
  );
  assert.equal(await problemsOf(root), []);
});

test('a deploy belongs to one app and is rolled back once per instance, after it failed', async () => {
  const [blog, eu] = [{ project: 'blog' }, { instance: 'eu' }];
  const root = rootWithLog(
    event('DeployStarted', 'aaaaaaaa') +
      event('DeploySuccess', 'aaaaaaaa', blog) +
      event('DeployStarted', 'bbbbbbbb') +
      event('RollbackSuccess', 'bbbbbbbb') +
      event('DeployFailure', 'bbbbbbbb') +
      event('RollbackSuccess', 'bbbbbbbb', eu) +
      event('RollbackSuccess', 'bbbbbbbb') +
      // By hand: one instance went back, the other could not.
      event('RollbackSuccess', 'cccccccc') +
      event('DeployFailure', 'cccccccc', { ...eu, from_version: 'v2' }) +
      event('RollbackSuccess', 'dddddddd') +
      event('RollbackSuccess', 'dddddddd'),
  );
  assert.equal(await problemsOf(root), [
    'log:2: deploy aaaaaaaa belongs to another app in an earlier record',
    'log:4: deploy bbbbbbbb was rolled back before it failed',
    'log:7: deploy bbbbbbbb has a second RollbackSuccess of default',
    'log:11: deploy dddddddd has a second RollbackSuccess of default',
  ]);
  // Whose start was rotated away.
  const rotated = rootWithLog('');
  const swapped = event('RollbackSuccess', 'aaaaaaaa') + event('DeployFailure', 'aaaaaaaa');
  writeFileSync(`${logPath(rotated)}.1.gz`, gzipSync(swapped));
  assert.equal(await problemsOf(rotated), [
    'log.1.gz:2: deploy aaaaaaaa ended after it was rolled back',
  ]);
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

test('a running deploy is not a problem; one whose process died is', async () => {
  const root = rootWithLog(event('DeployStarted', DEPLOYING.deploy_id));
  writeState(root, 'shop', { deploying: DEPLOYING });
  const { status, stdout } = await verify(root);
  assert.equal([status, stdout], [0, 'whole: 1 record, 1 deploy, 1 file, 1 in progress\n']);
  writeState(root, 'shop', { deploying: INTERRUPTED });
  assert.equal(await problemsOf(root), [
    `log:1: deploy ${DEPLOYING.deploy_id} started but has no end`,
  ]);
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

test('a damaged compressed file is a problem, and its readable content is checked', async () => {
  const root = rootWithLog('');
  const text = Array.from({ length: 500 }, (_, index) =>
    deploy(index.toString(16).padStart(8, '0')),
  ).join('');
  const whole = gzipSync(text);
  writeFileSync(`${logPath(root)}.1.gz`, whole.subarray(0, whole.length - 4));
  assert.equal(await problemsOf(root), [
    'log.1.gz:1000: the file cannot be read to its end: it is damaged or cut short',
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

test('hostile ids and times cannot drive the terminal', async () => {
  const evil = '\u001b[2J\u202e';
  const root = rootWithLog(
    event('DeployStarted', evil) + event('DeployFailure', `${evil}2`, { timestamp: `${evil}` }),
  );
  const { stdout } = await verify(root);
  assert.match(stdout, 'deploy \\x1b[2J\\u202e2 ended but has no DeployStarted');
  assert.match(stdout, ':1: deploy \\x1b[2J\\u202e started but has no end');
  assert.not.match(stdout, /[\u001b\u202e]/);
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
