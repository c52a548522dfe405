import { appendFileSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { audit, emit, sha, verified } from './chain.ts';
import { filesOf, lonely, rotate } from './chain-log.ts';
import { logOf, logPath, newRoot, rootWithLog } from './log.ts';

test('a record has its number and the hash of the previous one, across torn lines and rotations', async () => {
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
  const head = `4:${sha(fourth).slice(0, 32)}`;
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

test('an old log continues: the chain starts at its first new record', async () => {
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
      "error: invalid value 'latest' for '--anchor <SEQ:HASH>': an anchor looks like 4711:1a2b3c4d5e6f70819a2b3c4d5e6f7081\n",
    ],
  );
});

test.run();
