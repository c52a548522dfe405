import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { filesOf, lonely, rotate } from './chain-log.ts';
import { line, logOf, logPath, newRoot, record, rootWithLog } from './log.ts';

const audit = (root: string, ...args: string[]) => run('runner-audit', args, { root });
const emit = (root: string, ...lines: string[]) =>
  run('runner-audit', ['emit'], { root, stdin: lines.join('') });
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** What `verify` prints, its status first. */
async function verified(root: string, ...args: string[]): Promise<unknown[]> {
  const { status, stdout } = await audit(root, 'verify', ...args);
  return [status, ...stdout.trimEnd().split('\n')];
}

test('a record carries its number and the hash of what stands before it, torn lines and rotations included', async () => {
  const root = newRoot();
  await emit(root, lonely(1), lonely(2));
  appendFileSync(logPath(root), '{"torn');
  rotate(root);
  await emit(root, lonely(3));
  rotate(root);
  rotate(root);
  await emit(root, lonely(4));
  const [first, second, torn, third, fourth] = filesOf(root)
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .filter((each) => each !== '') as [string, string, string, string, string];
  const links = [first, second, third, fourth].map((each) => {
    const { seq, prev } = JSON.parse(each);
    return [seq, prev];
  });
  assert.equal(links, [
    [1, '0'.repeat(32)],
    [2, sha(first).slice(0, 32)],
    [3, sha(`${second}\n${torn}`).slice(0, 32)],
    [4, sha(third).slice(0, 32)],
  ]);
  const head = `4:${sha(fourth).slice(0, 8)}`;
  assert.is((await audit(root, 'anchor')).stdout, `${head}\n`);
  assert.equal(JSON.parse((await audit(root, 'anchor', '--json')).stdout), {
    anchor: head,
    seq: 4,
    hash: sha(fourth),
  });
  assert.equal(await verified(root, '--anchor', head), [
    0,
    `whole: 4 records, 0 deploys, 3 files, chain 1 to ${head}, 1 torn line`,
  ]);
});

test('an old log goes on: the chain begins at its first new record', async () => {
  const root = rootWithLog(lonely(1) + lonely(2));
  assert.is((await audit(root, 'anchor')).status, 1);
  await emit(root, lonely(3));
  const { seq, prev } = JSON.parse(logOf(root).trimEnd().split('\n')[2] as string);
  assert.equal([seq, prev], [1, '0'.repeat(32)]);
  assert.is((await verified(root))[0], 0);
  // A writer that knows no chain, such as version 0.1.0.
  appendFileSync(logPath(root), lonely(4));
  await emit(root, lonely(5));
  const found = await verified(root);
  assert.equal(found.slice(0, 2), [1, 'deploy-events.jsonl:4: the record is not in the chain']);
  assert.match(String(found[2]), /^1 problem: 5 records, 0 deploys, 1 file, chain 1 to 2:/);
});

test('seq and prev of an event that comes from another log are replaced', async () => {
  const root = newRoot();
  const { stdout } = await emit(root, lonely(1, { seq: 77, prev: 'f'.repeat(32) }));
  const { seq, prev } = JSON.parse(stdout);
  assert.equal([seq, prev], [1, '0'.repeat(32)]);
});

test('an anchor finds a log that was cut at its end, and one that was written again', async () => {
  const root = newRoot();
  const { stdout } = await emit(root, lonely(1), lonely(2), lonely(3));
  const [, second = ''] = stdout.split('\n');
  const anchor = (await audit(root, 'anchor')).stdout.trim();
  // As a message shows it.
  assert.is((await verified(root, '--anchor', `#${anchor.replace(':', '·')}`))[0], 0);
  assert.is((await verified(root, '--anchor', `2:${sha(second)}`))[0], 0);
  writeFileSync(logPath(root), stdout.split('\n').slice(0, 2).join('\n'));
  assert.is((await verified(root))[0], 0);
  assert.is(
    (await verified(root, '--anchor', anchor))[1],
    'deploy-events.jsonl:2: record 3 of the anchor is missing: the log ends with record 2',
  );
  writeFileSync(logPath(root), '');
  await emit(root, lonely(1), lonely(2), lonely(4));
  assert.is(
    (await verified(root, '--anchor', anchor))[1],
    'deploy-events.jsonl:3: record 3 does not match the anchor',
  );
  const wrong = await audit(root, 'verify', '--anchor', 'latest');
  assert.equal(
    [wrong.status, wrong.stderr],
    [
      2,
      "error: invalid value 'latest' for '--anchor <SEQ:HASH>': an anchor looks like 4711:1a2b3c4d\n",
    ],
  );
});

test('while another process holds the log, a deploy must not begin; everything else is kept and appended later', async () => {
  const root = newRoot();
  await emit(root, lonely(1));
  const held = spawn('flock', [join(root, 'locks/.audit.lock'), 'sh', '-c', 'echo held; read x']);
  await once(held.stdout, 'data');
  const started = ['emit', 'DeployStarted', '--project', 'shop', '--version', 'v2', '--json'];
  const refused = await audit(root, ...started);
  assert.is(refused.status, 1);
  assert.is(JSON.parse(refused.stdout).error, 'audit_busy');
  assert.is(refused.stderr, 'runner audit emit: the audit log is busy (audit_busy)\n');
  const stream = await emit(root, lonely(3), line(record('v4')), lonely(5));
  assert.equal(
    stream.stdout
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each).version),
    ['v3', 'v5'],
  );
  assert.equal(
    [stream.status, stream.stderr],
    [
      1,
      'runner audit emit: line 2: the audit log is busy (audit_busy)\nrunner audit emit: the audit log is busy; 2 event(s) are kept and will be appended later\n',
    ],
  );
  const one = await audit(root, 'emit', 'RollbackSuccess', '--project', 'shop', '--version', 'v6');
  assert.is(one.status, 0);
  assert.match(one.stderr, 'the event is kept and will be appended later (audit_busy)');
  held.stdin.end();
  await once(held, 'close');
  assert.is((await verified(root))[0], 0);
  const records = logOf(root)
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each));
  assert.equal(
    records.map(({ seq, version, late }) => [seq, version, late]),
    [
      [1, 'v1', undefined],
      [2, 'v3', true],
      [3, 'v5', true],
      [4, 'v6', true],
    ],
  );
  assert.is(records[1].timestamp, JSON.parse(lonely(3)).timestamp);
});

test('a kept event that was appended before its writer was killed is not appended again, also after rotations', async () => {
  for (const rotations of [0, 1, 2]) {
    const root = newRoot();
    const kept = lonely(2, { late: true });
    await emit(root, lonely(1), kept);
    for (let done = 0; done < rotations; done += 1) rotate(root);
    mkdirSync(join(root, 'spool/audit'), { recursive: true });
    writeFileSync(join(root, 'spool/audit/2-kept.jsonl'), kept);
    await emit(root, lonely(3));
    assert.is((await shell('ls spool/audit', { cwd: root })).stdout, '');
    assert.is((await verified(root))[1]?.toString().split(',')[0], 'whole: 3 records');
  }
});

test.run();
