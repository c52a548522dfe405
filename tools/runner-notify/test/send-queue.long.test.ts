import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, start } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { refusals } from '@runner/testing/telegram';
import { tree } from '@runner/testing/temp';
import { until } from '@runner/testing/until';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, chats, chatsSuite, configOf, event, startChats, waitOnly } from './chats.ts';

const test = chatsSuite('d');

const spool = () => join(chats.root, 'spool/notify');
const queued = () => readdirSync(spool()).filter((name) => /-.*\.json$/.test(name));
const asked = () => until(() => chats.hook.requests.length > 0, 'no request');

/** The next request is answered when the returned function is called. */
function held(): () => void {
  let answer = () => {};
  chats.hook.fail({
    until: new Promise<void>((resolve) => {
      answer = resolve;
    }),
  });
  return () => answer();
}

const resultsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('--strict: a message that is still queued makes the status 4, one that was refused 1', async () => {
  chats.hook.fail('html', 99);
  const waiting = await chats.send([event('DeployStarted')], ['--strict', '--wait', '0', '--json']);
  assert.is(waiting.status, 4);
  const [{ result, queue_id, messages }] = resultsOf(waiting.stdout);
  assert.equal([result, messages], ['queued', 0]);
  assert.equal(queued(), [`${queue_id}.discord.json`]);
  chats.hook.heal();
  chats.hook.remove();
  const both = await chats.send([event('DeploySuccess', { deploy_id: 'ffffffff' })], ['--strict']);
  assert.is(both.status, 1);
});

test('--dry-run prints the payloads, and queues, sends and makes nothing', async () => {
  chats.configure();
  const before = tree(chats.root);
  const records = [event('DeployFailure', { error: 'x\n'.repeat(900) })];
  const ended = await chats.send(records, ['--dry-run', '--json']);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal(
    resultsOf(ended.stdout).map(({ channel, result, payloads }) => [
      channel,
      result,
      payloads.length,
    ]),
    [
      ['telegram', 'dry_run', 2],
      ['discord', 'dry_run', 2],
    ],
  );
  const human = await chats.send(records, ['--dry-run']);
  assert.match(
    human.stdout,
    /^would send {2}telegram {2}DeployFailure shop .*, 2 messages\n\{"text":/,
  );
  assert.equal(tree(chats.root), before);
  assert.equal([chats.bot.requests.length, chats.hook.requests.length], [0, 0]);
});

test('a record is on disk before its first request, without the rendered text and without a secret', async () => {
  chats.configure();
  chats.bot.fail('hang', 9);
  chats.hook.fail('hang', 9);
  const running = start('runner-notify', ['send'], { root: chats.root });
  const error = `token ${BOT_TOKEN} and \u001b[1m${chats.hook.webhook}\u001b[0m failed`;
  running.stdin.write(`${JSON.stringify(event('DeployFailure', { error }))}\n`);
  await until(() => chats.bot.requests.length + chats.hook.requests.length >= 2, 'no requests');
  assert.is(queued().length, 2);
  const text = queued()
    .map((name) => readFileSync(join(spool(), name), 'utf8'))
    .join();
  for (const secret of [BOT_TOKEN, chats.hook.webhook, chats.hook.token]) {
    assert.equal(findSecret(text, secret), []);
  }
  assert.match(text, '"attempting":"20');
  assert.not.match(text, 'Deploy failed');
  running.kill('SIGKILL');
  await running.done;
});

test('a killed send loses nothing: the next one delivers it first', async () => {
  chats.hook.fail('hang');
  const running = start('runner-notify', ['send'], { root: chats.root });
  running.stdin.write(`${JSON.stringify(event('DeployStarted'))}\n`);
  await asked();
  running.kill('SIGKILL');
  await running.done;
  const ended = await chats.send([event('DeploySuccess')]);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal(
    chats.hook.messages.map(({ content }) => /started|completed/.exec(content)?.[0]),
    ['started', 'completed'],
  );
  assert.equal(queued(), []);
});

test('what a crash left in the middle of a request is delivered marked by the next process', async () => {
  chats.hook.fail('hang');
  // With this variable `send` delivers itself, so that the kill reaches the process that delivers.
  const running = start('runner-notify', ['send'], {
    root: chats.root,
    env: { RUNNER_APART: '1' },
  });
  running.stdin.write(`${JSON.stringify(event('DeployStarted'))}\n`);
  await asked();
  running.kill('SIGKILL');
  await running.done;
  const flushed = await run('runner-notify', ['flush', '--json'], { root: chats.root });
  const [result] = resultsOf(flushed.stdout);
  assert.equal([flushed.status, result.result, result.maybe_duplicate], [0, 'delivered', true]);
});

test('each record is spooled as it arrives while the one before it hangs', async () => {
  const answer = held();
  const running = start('runner-notify', ['send', '--wait', '60'], { root: chats.root });
  running.stdin.write(`${JSON.stringify(event('DeployStarted'))}\n`);
  await asked();
  running.stdin.write(`${JSON.stringify(event('DeploySuccess'))}\n`);
  await until(() => queued().length === 2, 'the second one is not spooled');
  answer();
  running.stdin.end();
  const ended = await running.done;
  assert.match(ended.stdout, /^delivered .*DeployStarted.*\ndelivered .*DeploySuccess.*\n$/);
});

test('a service that does not answer is not waited for longer than was asked', async () => {
  for (const [wait, seconds] of [
    ['0', '5'],
    ['8', '[5-8]'],
  ] as const) {
    chats.forget();
    chats.hook.fail('hang');
    const ended = await chats.send([event('DeployStarted')], ['--json', '--wait', wait]);
    const [{ result, code, description, maybe_duplicate }] = resultsOf(ended.stdout);
    assert.equal([ended.status, result, code, maybe_duplicate], [0, 'queued', 'timeout', true]);
    assert.match(description, new RegExp(`^no complete answer within ${seconds} s$`));
  }
});

test('a send that finds another one delivering waits for it, and reports what that one did', async () => {
  const answer = held();
  const first = chats.send([event('DeployStarted')], ['--json', '--wait', '60']);
  await asked();
  const second = chats.send([event('DeploySuccess')], ['--json', '--wait', '60']);
  await until(() => queued().length === 2, 'the second one is not spooled');
  answer();
  const third = await chats.send([event('RollbackSuccess')], ['--json', '--wait', '60']);
  assert.is(resultsOf((await second).stdout)[0].result, 'delivered');
  assert.is(resultsOf(third.stdout)[0].result, 'delivered');
  assert.is(resultsOf((await first).stdout)[0].result, 'delivered');
  assert.is(chats.hook.messages.length, 3);
});

test('without time to wait for another process the record stays queued, safely', async () => {
  const answer = held();
  const first = chats.send([event('DeployStarted')], ['--wait', '60']);
  await asked();
  const second = await chats.send([event('DeploySuccess')], ['--json', '--wait', '0']);
  assert.equal([second.status, resultsOf(second.stdout)[0].result], [0, 'queued']);
  answer();
  await first;
  await run('runner-notify', ['flush'], { root: chats.root });
  assert.is(chats.hook.messages.length, 2);
});

test('the wait that a service asks for holds for the next process', async () => {
  chats.configure(configOf(chats.bot, chats.hook, 't'));
  chats.bot.fail(refusals.tooManyRequests(600));
  await chats.send([event('DeployStarted')], ['--wait', '0']);
  const hasty = await chats.send([event('DeploySuccess')], ['--wait', '0.5', '--json']);
  assert.equal(
    [resultsOf(hasty.stdout)[0].result, resultsOf(hasty.stdout)[0].code],
    ['queued', 429],
  );
  assert.match(hasty.stderr, /it stays queued: .* asks to wait \d+ s\)/);
  assert.is(chats.bot.requests.length, 1);
  waitOnly(chats.root, 'telegram', 1000);
  const patient = await chats.send([event('RollbackSuccess')], ['--wait', '60']);
  assert.match(patient.stdout, /^delivered /);
  assert.is(chats.bot.messages.length, 3);
});

test('a destination that is gone is called again once its credentials have changed', async () => {
  chats.hook.remove();
  await chats.send([event('DeployStarted')]);
  await chats.send([event('DeploySuccess')]);
  assert.is(chats.hook.requests.length, 1);
  assert.is(readdirSync(join(spool(), 'dead')).length, 2);
  const other = await startChats();
  chats.configure(configOf(other.bot, other.hook, 'd'));
  const ended = await chats.send([event('RollbackSuccess')]);
  assert.match(ended.stdout, /^delivered /);
  await other.close();
});

test('without a lock the record stays queued, and stderr says why', async () => {
  writeFileSync(join(chats.root, 'locks'), '');
  const ended = await chats.send([event('DeployStarted')], ['--json', '--channel', 'discord']);
  assert.is(ended.status, 0);
  assert.is(resultsOf(ended.stdout)[0].result, 'queued');
  assert.match(
    ended.stderr,
    /^runner notify send: discord: DeployStarted of shop was not delivered yet, it stays queued: cannot make the folder .*\/locks: it is a file\n$/,
  );
  assert.is(queued().length, 1);
  assert.is(chats.hook.requests.length, 0);
});

test('a file in place of the spool is reported; the record is delivered', async () => {
  writeFileSync(join(chats.root, 'spool'), '');
  const ended = await chats.send([event('DeployStarted')]);
  assert.is(ended.status, 1);
  assert.match(ended.stderr, 'discord: DeployStarted of shop cannot be queued: ');
  assert.match(ended.stdout, /^delivered /);
  assert.not.ok(existsSync(spool()));
});

test.run();
