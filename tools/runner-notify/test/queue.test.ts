import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { asNobody, shell } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';
import { flush, messages, queue, waitingAndDead } from './queue.ts';

const test = chatsSuite('d');

test('an empty queue is reported, and nothing is created', async () => {
  const before = tree(chats.root);
  const ended = await queue('list');
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, 'no messages are waiting\n', '']);
  assert.equal(await messages('list'), []);
  assert.equal(tree(chats.root), before);
});

test('a user who may not look into the queue gets no answer that it is empty', async () => {
  if (process.getuid?.() !== 0) return;
  const { root } = chats;
  chmodSync(root, 0o755);
  mkdirSync(join(root, 'spool'), { mode: 0o700 });
  mkdirSync(join(root, 'spool/notify'));
  for (const command of ['queue', 'flush']) {
    const as = `exec ${asNobody('runner-notify')} ${command}`;
    const { status, stdout, stderr } = await shell(as, { root, cwd: '/' });
    const denied = `cannot read the folder ${root}/spool/notify: permission denied`;
    assert.equal([status, stdout], [1, '']);
    assert.ok(stderr.startsWith(`runner notify ${command}: ${denied}; use: sudo `), stderr);
  }
});

test('the list shows what waits and what was given up, and why', async () => {
  const { waiting, dead } = await waitingAndDead();
  const ended = await queue('list');
  assert.equal(await messages(), await messages('list'));
  const lines = ended.stdout.split('\n');
  assert.match(lines[0] ?? '', /^ID +CHANNEL +STATE +EVENT +AGE +TRIES +WHY$/);
  assert.match(
    lines[1] ?? '',
    new RegExp(
      `^${waiting} +discord +waiting +DeployStarted shop v1\\.3\\.0 \\[a1b2c3d4\\] +\\d+ s +1 +the answer has HTTP status 502`,
    ),
  );
  assert.match(
    lines[2] ?? '',
    new RegExp(`^${dead} +discord +dead +DeployStarted .* Missing Permissions`),
  );
  assert.is(lines.length, 4);
  assert.equal(
    (await messages('list', '--dead')).map(({ id }) => id),
    [dead],
  );
});

test('show prints the fields of the event that are not texts as JSON', async () => {
  chats.hook.fail('html');
  const changes = { files: 3, commits: ['a'] };
  await chats.send([event('DeployStarted', { changes })], ['--wait', '0']);
  const [waiting] = await messages('list');
  assert.match(
    (await queue('show', String(waiting?.id))).stdout,
    /event\.changes +\{"files":3,"commits":\["a"\]\}\n/,
  );
});

test('retry brings back what was given up, and flush delivers it', async () => {
  const { dead } = await waitingAndDead();
  const ended = await queue('retry', dead);
  assert.equal(
    [ended.status, ended.stdout, ended.stderr],
    [0, '1 message made due: run `runner notify flush`\n', ''],
  );
  assert.equal(await messages('list', '--dead'), []);
  assert.match(
    (await flush('--now')).stdout,
    'delivered  discord   DeployStarted shop v1.3.0 [ffffffff]',
  );
  assert.equal(await messages('list'), []);
});

test('drop removes for good: some, all, or all that was given up', async () => {
  const { waiting } = await waitingAndDead();
  assert.is((await queue('drop', '--all', '--dead')).stdout, '1 message dropped\n');
  assert.equal(
    (await messages('list')).map(({ id }) => id),
    [waiting],
  );
  assert.is((await queue('drop', waiting)).stdout, '1 message dropped\n');
  assert.is((await queue('drop', '--all')).stdout, '0 messages dropped\n');
  await flush('--now');
  assert.is(chats.hook.messages.length, 0);
});

test.run();
