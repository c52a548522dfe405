import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { DEPLOYING, INTERRUPTED, writeState } from '@runner/testing/app-states';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logPath, rootWithLog } from './log.ts';
import { deploy, event, problemsOf, verify } from './verify.ts';

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

test.run();
