import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { refusals } from '@runner/testing/telegram';
import { tree } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chats, configOf, event, startChats, waitOnly } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
});
test.after.each(() => chats.close());

const flush = (...args: string[]) => run('runner-notify', ['flush', ...args], { root: chats.root });
const queued = () =>
  readdirSync(join(chats.root, 'spool/notify')).filter((name) => /-.*\.json$/.test(name)).length;
const only = (which: string) => chats.configure(configOf(chats.bot, chats.hook, which));
const deploy = (number: number) => event('DeployStarted', { deploy_id: `deploy0${number}` });

test('with nothing queued it says nothing, makes nothing and reads no configuration', async () => {
  chats.configure('notify: [');
  const before = tree(chats.root);
  const ended = await flush();
  assert.equal([ended.status, ended.stdout, ended.stderr], [0, '', '']);
  assert.equal((await flush('--json')).stdout, '');
  assert.equal(tree(chats.root), before);
});

test('a restart with messages queued: flush delivers them in order, and then is quiet', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted'), event('DeploySuccess')], ['--wait', '0']);
  chats.hook.heal();
  const ended = await flush('--now');
  assert.equal(
    [ended.status, ended.stdout],
    [
      0,
      'delivered  discord   DeployStarted shop v1.3.0 [a1b2c3d4], 1 message, maybe twice\ndelivered  discord   DeploySuccess shop v1.3.0 [a1b2c3d4], 1 message\n',
    ],
  );
  assert.equal(
    chats.hook.messages.map(({ content }) => /started|completed/.exec(content)?.[0]),
    ['started', 'completed'],
  );
  assert.equal([(await flush()).stdout, queued()], ['', 0]);
});

test('without --now a pause after trouble is kept, and told', async () => {
  only('d');
  chats.hook.fail('drop', 3);
  await chats.send([deploy(1)], ['--wait', '0']);
  const ended = await flush();
  assert.is(ended.status, 0);
  if (ended.stdout === '') {
    assert.match(ended.stderr, /discord: 1 message stays queued: the next try is in \d+ s\n$/);
  }
});

test('what a service asked to wait for is not sent before, not even with --now', async () => {
  only('t');
  chats.bot.fail(refusals.tooManyRequests(600));
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  const hasty = await flush('--now');
  assert.equal([hasty.status, hasty.stdout], [0, '']);
  assert.match(
    hasty.stderr,
    /^runner notify flush: telegram: 1 message stays queued: the service asks to wait \d+ s\n$/,
  );
  assert.is(chats.bot.requests.length, 1);
  waitOnly(chats.root, 'telegram', 0);
  assert.match((await flush()).stdout, /^delivered {2}telegram /);
});

test('what is refused is reported with its reason and put aside, and the status is 0', async () => {
  only('d');
  chats.hook.fail('html', 9);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  chats.hook.remove();
  const ended = await flush('--now', '--json');
  const { result, code, messages, queue_id } = JSON.parse(ended.stdout);
  assert.equal([ended.status, result, code, messages], [0, 'rejected', 10015, 0]);
  assert.match(readdirSync(join(chats.root, 'spool/notify/dead')).join(), queue_id);
});

test('after a crash between the two messages of a failure only the missing one is sent', async () => {
  only('d');
  chats.hook.fail({ slow: 0 });
  chats.hook.fail('hang');
  // The process that sends; `send` itself leaves it running when it is killed.
  const running = start('runner-notify', ['send'], {
    root: chats.root,
    env: { RUNNER_APART: '1' },
  });
  running.stdin.write(`${JSON.stringify(event('DeployFailure', { error: 'x\n'.repeat(900) }))}\n`);
  await until(() => chats.hook.requests.length >= 2, 'no second request');
  running.kill('SIGKILL');
  await running.done;
  const ended = await flush('--json');
  const { result, messages, maybe_duplicate } = JSON.parse(ended.stdout);
  assert.equal([result, messages, maybe_duplicate], ['delivered', 2, true]);
  assert.equal(
    chats.hook.messages.map(({ content }) => /failed|error log/.exec(content)?.[0]),
    ['failed', 'error log'],
  );
});

test('flushes that overlap deliver each message once', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([1, 2, 3, 4].map(deploy), ['--wait', '0']);
  chats.hook.heal();
  const all = await Promise.all([1, 2, 3, 4].map(() => flush('--now')));
  assert.equal(
    all.map(({ status }) => status),
    [0, 0, 0, 0],
  );
  assert.equal([chats.hook.messages.length, queued()], [4, 0]);
});

test('what waits for a channel that is no longer active stays queued for a day, and stderr says so', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  chats.configure('notify: {}\n');
  const ended = await flush('--now');
  assert.is(
    ended.stderr,
    'runner notify flush: discord: 1 message stays queued: the channel is not active\n',
  );
  only('d');
  assert.match((await flush('--now')).stdout, /^delivered /);
});

test('a state file that is damaged or gone stops nobody', async () => {
  only('d');
  chats.hook.fail('drop', 99);
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  chats.hook.heal();
  rmSync(join(chats.root, 'spool/notify/discord.json'));
  assert.match((await flush('--now')).stdout, /^delivered /);
});

test.run();
