import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';
import { flush, messages, queue, waitingAndDead } from './queue.ts';

const test = chatsSuite('d');

test('JSON has every field of a message, and show adds the event', async () => {
  const { waiting } = await waitingAndDead();
  const [listed] = await messages('list');
  const { queued_at, first_at, next_at, problem, ...rest } = listed ?? {};
  assert.equal(rest, {
    id: waiting,
    channel: 'discord',
    state: 'waiting',
    event_type: 'DeployStarted',
    project: 'shop',
    app: 'shop',
    instance: 'prod-1',
    version: 'v1.3.0',
    deploy_id: 'a1b2c3d4',
    attempts: 1,
    messages: 0,
    maybe_duplicate: true,
  });
  for (const time of [queued_at, first_at, next_at]) {
    assert.ok(!Number.isNaN(Date.parse(String(time))), String(time));
  }
  assert.is((problem as { http_status: number }).http_status, 502);
  const [shown] = await messages('show', waiting);
  assert.equal(shown?.event, event('DeployStarted'));
  const human = await queue('show', waiting);
  assert.match(human.stdout, new RegExp(`^${waiting}\\n  channel +discord\\n  state +waiting\\n`));
  assert.match(human.stdout, /event\.deploy_id +a1b2c3d4\n/);
  assert.match((await queue('list', '-o', 'yaml')).stdout, `- id: ${waiting}\n`);
});

test('the tries of a message that was refused are counted', async () => {
  await waitingAndDead();
  assert.equal(
    (await messages('list', '--dead')).map(({ attempts }) => attempts),
    [1],
  );
});

test('a send that waits for a message that is dropped does not call it delivered', async () => {
  chats.hook.fail('html', 99);
  const running = start('runner-notify', ['send', '--wait', '60'], { root: chats.root });
  running.stdin.end(`${JSON.stringify(event('DeployStarted'))}\n`);
  while (!((await messages('list'))[0]?.attempts as number))
    await new Promise((resolve) => setTimeout(resolve, 20));
  await queue('drop', '--all');
  const { status, stdout, stderr } = await running.done;
  assert.match(
    stdout,
    /^rejected {3}discord {3}DeployStarted .*, it was dropped from the queue\n$/,
  );
  assert.match(stderr, 'DeployStarted of shop was not delivered: it was dropped from the queue');
  assert.is(status, 0);
  assert.is(chats.hook.messages.length, 0);
});

/** Holds `send` up when it saves an entry again, until the file `go` is there. */
const saving = (there: string, go: string) => `const fs = require('node:fs');
const rename = fs.renameSync;
fs.renameSync = (from, to) => {
  if (/-[0-9a-f]{4}\\.discord\\.json$/.test(to) && fs.existsSync(to)) {
    fs.writeFileSync(${JSON.stringify(there)}, '');
    while (!fs.existsSync(${JSON.stringify(go)}))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  return rename(from, to);
};
`;

test('a message that is dropped while its state is saved stays dropped', async () => {
  chats.hook.fail('html', 99);
  const folder = temporaryFolder('drop');
  const [hook, there, go] = [join(folder, 'hook.cjs'), join(folder, 'there'), join(folder, 'go')];
  writeFileSync(hook, saving(there, go));
  const options = { root: chats.root, env: preloading(hook) };
  const running = start('runner-notify', ['send', '--wait', '60'], options);
  running.stdin.end(`${JSON.stringify(event('DeployStarted'))}\n`);
  await until(() => existsSync(there), 'send saves nothing');
  assert.is((await queue('drop', '--all')).status, 0);
  writeFileSync(go, '');
  assert.match((await running.done).stdout, /, it was dropped from the queue\n$/);
  assert.equal(await messages('list'), []);
});

test('retry --all makes due what waits, too', async () => {
  await waitingAndDead();
  assert.is((await messages('retry', '--all')).length, 2);
  assert.equal(
    (await messages('list')).map(({ state, next_at, problem }) => [state, next_at, problem]),
    [
      ['queued', null, null],
      ['queued', null, null],
    ],
  );
  await flush();
  assert.is(chats.hook.messages.length, 2);
});

test('a damaged file is listed, cannot be retried, and can be dropped', async () => {
  const { waiting } = await waitingAndDead();
  writeFileSync(join(chats.root, 'spool/notify', `${waiting}.discord.json`), '{"version":');
  assert.is((await messages('list'))[0]?.state, 'damaged');
  const refused = await queue('retry', waiting);
  assert.is(refused.status, 1);
  assert.match(
    refused.stderr,
    `the message ${waiting} is damaged (${chats.root}/spool/notify/${waiting}.discord.json): drop it (file_unreadable)`,
  );
  assert.is((await queue('drop', waiting)).status, 0);
});

test('what is no entry holds up nobody: it is listed as damaged, put aside by flush, and can be dropped', async () => {
  const spool = join(chats.root, 'spool/notify');
  await chats.send([event('DeployStarted')]);
  symlinkSync('/etc/passwd', join(spool, 'abcdefghi-0001.discord.json'));
  mkdirSync(join(spool, 'abcdefghi-0002.discord.json/inside'), { recursive: true });
  writeFileSync(join(spool, 'abcdefghi-0003.discord.json'), '');
  spawnSync('mkfifo', [join(spool, 'abcdefghi-0004.discord.json')]);
  assert.equal(
    (await messages('list')).map(({ state }) => state),
    ['damaged', 'damaged', 'damaged', 'damaged'],
  );
  const sent = await chats.send([event('DeploySuccess')], ['--json']);
  assert.is(JSON.parse(sent.stdout).result, 'delivered');
  assert.equal(
    (await messages('list', '--dead')).map(({ id }) => id),
    ['abcdefghi-0001', 'abcdefghi-0002', 'abcdefghi-0003', 'abcdefghi-0004'],
  );
  const retried = await queue('retry', '--all');
  assert.is(retried.status, 1);
  assert.match(
    retried.stderr,
    `the message abcdefghi-0001 is damaged (${spool}/dead/abcdefghi-0001.discord.json): drop it\n`,
  );
  assert.is((await queue('drop', '--all')).stdout, '4 messages dropped\n');
  assert.equal(await messages('list'), []);
  assert.ok(existsSync('/etc/passwd'));
});

for (const [args, sentence] of [
  [['empty'], "invalid value 'empty' for '[ACTION]' [possible values: list, show, retry, drop]"],
  [['list', 'x'], "unexpected argument 'x' found"],
  [['show'], 'the following required arguments were not provided: [IDS]...'],
  [['drop'], 'the following required arguments were not provided: [IDS]...'],
  [['drop', 'x', '--all'], "the argument '--all' cannot be used with '[IDS]...'"],
  [['show', '--all'], "the argument '--all' cannot be used with 'show'"],
] as const) {
  test(`queue ${args.join(' ')} is wrong usage`, async () => {
    const ended = await queue(...args);
    assert.equal([ended.status, ended.stdout, ended.stderr], [2, '', `error: ${sentence}\n`]);
  });
}

for (const [args, sentence] of [
  [['show', 'mib0k3v1c-9f2e'], "no message 'mib0k3v1c-9f2e' is waiting or was given up"],
  [['retry', '../x'], "no message '../x' is waiting or was given up"],
  [['drop', 'x', '--dead'], "no message 'x' was given up"],
] as const) {
  test(`queue ${args.join(' ')} is a failure with a code, and nothing else is touched`, async () => {
    const { waiting } = await waitingAndDead();
    const ended = await queue(...args, '--json');
    assert.is(ended.status, 1);
    assert.is(ended.stderr, `runner notify queue: ${sentence} (message_not_found)\n`);
    const { error, message, id } = JSON.parse(ended.stdout);
    assert.equal([error, message, id], ['message_not_found', sentence, args[1]]);
    assert.ok((await messages('list')).some((each) => each.id === waiting));
  });
}

test.run();
