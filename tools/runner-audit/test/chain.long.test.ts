import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { audit, emit, sha, verified } from './chain.ts';
import { lonely, rotate } from './chain-log.ts';
import { line, logOf, logPath, newRoot, record } from './log.ts';

test('seq and prev of an event that comes from another log are replaced', async () => {
  const root = newRoot();
  const { stdout } = await emit(root, lonely(1, { seq: 77, prev: 'f'.repeat(32) }));
  const { seq, prev } = JSON.parse(stdout);
  assert.equal([seq, prev], [1, '0'.repeat(32)]);
});

/** The lines with another history, chained again; `last` changes the newest so that its hash fits. */
function rewritten(lines: readonly string[], last: (line: string) => string): string {
  let prev = '0'.repeat(32);
  const all = lines.map((each, index) => {
    const { seq, prev: _prev, ...fields } = JSON.parse(each) as Record<string, unknown>;
    const text = JSON.stringify({ ...fields, version: `other-${seq}`, seq, prev });
    const forged = index === lines.length - 1 ? last(text) : text;
    prev = sha(forged).slice(0, 32);
    return forged;
  });
  return `${all.join('\n')}\n`;
}

/** The first of the texts whose hash begins with these digits. */
function fitting(digits: string, texts: (tries: number) => string): string {
  for (let tries = 0; ; tries += 1) {
    const text = texts(tries);
    if (sha(text).startsWith(digits)) return text;
  }
}

test('an anchor has 32 digits; a log that was rewritten to fit the beginning of one is not whole', async () => {
  const root = newRoot();
  const { stdout } = await emit(root, lonely(1), lonely(2), lonely(3));
  const lines = stdout.trimEnd().split('\n');
  const anchor = (await audit(root, 'anchor')).stdout.trim();
  const hash = sha(lines[2] as string);
  assert.is(anchor, `3:${hash.slice(0, 32)}`);
  // As blanks and tabs at the end of the line; a forger goes on to as many digits as the anchor has.
  const blanks = (text: string) =>
    fitting(
      hash.slice(0, 4),
      (tries) => text + tries.toString(2).replace(/0/g, ' ').replace(/1/g, '\t'),
    );
  writeFileSync(logPath(root), rewritten(lines, blanks));
  assert.equal((await verified(root, '--anchor', anchor)).slice(0, 3), [
    1,
    'deploy-events.jsonl:3: record 3 does not match the anchor',
    'deploy-events.jsonl:3: record 3 was changed: runner writes it differently',
  ]);
  assert.equal(
    (await verified(root))[1],
    'deploy-events.jsonl:3: record 3 was changed: runner writes it differently',
  );
  // In a field, which is what runner could have written: only the digits decide.
  const field = (text: string) =>
    fitting(hash.slice(0, 4), (tries) => text.replace('"seq"', `"note":${tries},"seq"`));
  writeFileSync(logPath(root), rewritten(lines, field));
  assert.is((await verified(root))[0], 0);
  assert.is((await verified(root, '--anchor', anchor))[0], 1);
});

test('a shorter anchor is compared, and its proof is described', async () => {
  const root = newRoot();
  await emit(root, lonely(1), lonely(2));
  const anchor = (await audit(root, 'anchor')).stdout.trim();
  const upTo = (digits: number) => anchor.slice(0, 2 + digits);
  for (const digits of [24, 31, 32]) {
    const [status, first] = await verified(root, '--anchor', upTo(digits));
    assert.equal([status, /^whole: /.test(String(first))], [0, true]);
  }
  for (const digits of [8, 23]) {
    const ended = await audit(root, 'verify', '--json', '--anchor', upTo(digits));
    const { ok, anchor_digits, problem_count } = JSON.parse(ended.stdout);
    assert.equal([ended.status, ok, anchor_digits, problem_count], [4, false, digits, 0]);
  }
  const [, first, second] = await verified(root, '--anchor', upTo(8));
  assert.match(String(first), /^unproven: 2 records/);
  assert.match(String(second), /fits the 8 digits of the anchor, but .* about 2\^32 tries/);
  assert.is((await verified(root, '--anchor', `2:${'0'.repeat(8)}`))[0], 1);
  assert.is((await verified(root, '--anchor', upTo(7)))[0], 2);
});

test('a chained line that runner cannot have written is named', async () => {
  const root = newRoot();
  const { stdout } = await emit(root, lonely(1), lonely(2));
  const [one = '', two = ''] = stdout.trimEnd().split('\n');
  const changes: ((line: string) => string)[] = [
    (line) => `${line} `,
    (line) => ` ${line}`,
    (line) => line.replace(',', ', '),
    (line) => line.replace('{', '{"version":"v0",'),
    (line) => line.replace('shop', 'sho\\u0070'),
    (line) => line.replace('"seq":2', '"seq":2.0'),
  ];
  for (const change of changes) {
    writeFileSync(logPath(root), `${one}\n${change(two)}\n`);
    assert.equal((await verified(root)).slice(0, 2), [
      1,
      'deploy-events.jsonl:2: record 2 was changed: runner writes it differently',
    ]);
  }
  const deep = `"deep":${'['.repeat(20_000)}${']'.repeat(20_000)},"seq"`;
  writeFileSync(logPath(root), `${one}\n${two.replace('"seq"', deep)}\n`);
  assert.equal((await verified(root)).slice(0, 2), [
    1,
    'deploy-events.jsonl:2: the line is not a JSON object',
  ]);
  // As an older version, which escaped fewer characters.
  const old = two.replace('"seq"', '"note":"\ufeff","seq"');
  writeFileSync(logPath(root), `${one}\n${old}\n`);
  assert.is((await verified(root))[0], 0);
});

test('while another process holds the log, no deploy starts; other events are kept and appended later', async () => {
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
    const kept = lonely(2, { late: true, source: 'emit' });
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
