/** Why a record stays queued that was not tried at all: what is said is what is true. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';

const test = chatsSuite('d');

/** Changes fields of a file of the spool. */
const change = (name: string, fields: Readonly<Record<string, unknown>>) => {
  const path = join(chats.root, 'spool/notify', name);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...fields }));
};
const saying = (why: string) =>
  `runner notify send: discord: DeploySuccess of shop was not delivered yet, it stays queued: ${why}\n`;
const outcome = ({ stdout }: { stdout: string }) => {
  const { result, messages, description } = JSON.parse(stdout);
  return [result, messages, description];
};

test('without the command flock that is the reason', async () => {
  const path = temporaryFolder('path');
  for (const [name, target] of [
    ['node', process.execPath],
    ['env', '/usr/bin/env'],
  ] as const)
    symlinkSync(target, join(path, name));
  const why = 'the command flock is missing: install util-linux';
  const options = { env: { PATH: path } };
  const json = await chats.send([event('DeploySuccess')], ['--json'], options);
  assert.equal([json.status, json.stderr, outcome(json)], [0, saying(why), ['queued', 0, why]]);
  const human = await chats.send([event('DeploySuccess')], [], options);
  assert.match(
    human.stdout,
    /^queued {5}discord {3}DeploySuccess .*, the command flock is missing: .*\n$/,
  );
  assert.is(chats.hook.requests.length, 0);
});

test('behind an earlier message of the deploy whose next try is later, that is the reason', async () => {
  chats.hook.fail('html', 1);
  const first = await chats.send([event('DeployStarted')], ['--wait', '0', '--json']);
  const { result, queue_id } = JSON.parse(first.stdout);
  assert.is(result, 'queued');
  change(`${queue_id}.discord.json`, { next_at: new Date(Date.now() + 3_600_000).toISOString() });
  const second = await chats.send([event('DeploySuccess')], ['--wait', '0', '--json']);
  const why = 'an earlier message about the same is waiting for its next try';
  assert.equal([second.status, second.stderr], [0, saying(why)]);
  assert.equal(outcome(second), ['queued', 0, why]);
  assert.is(chats.hook.requests.length, 1);
});

test('the end of a trouble waits for the message about its beginning, that of another one does not', async () => {
  const down = (kind: string, instance: string) =>
    event(kind, { instance, deploy_id: null, reason: 'run: runner start shop' });
  chats.hook.fail('html', 1);
  const first = await chats.send([down('AppDown', 'eu')], ['--wait', '0', '--json']);
  const { queue_id } = JSON.parse(first.stdout);
  change(`${queue_id}.discord.json`, { next_at: new Date(Date.now() + 3_600_000).toISOString() });
  const end = await chats.send([down('AppUp', 'eu')], ['--wait', '0', '--json']);
  assert.is(outcome(end)[0], 'queued');
  const other = await chats.send([down('AppUp', 'us')], ['--wait', '0', '--json']);
  assert.is(outcome(other)[0], 'delivered');
  await run('runner-notify', ['flush', '--now'], { root: chats.root });
  const shown = chats.hook.messages.map(({ payload }) => String(payload.content).slice(3, 14));
  assert.equal(shown, ['App up agai', 'App down: `', 'App up agai']);
});

test('while another process delivers for longer than the time to wait, that is the reason', async () => {
  const lock = join(chats.root, 'locks/.notify-discord.lock');
  mkdirSync(dirname(lock));
  const holder = spawn('flock', ['-x', lock, '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const ended = await chats.send([event('DeploySuccess')], ['--wait', '0', '--json']);
  const why = 'another process is delivering';
  assert.equal([ended.status, ended.stderr, outcome(ended)], [0, saying(why), ['queued', 0, why]]);
  holder.stdin.end();
  await once(holder, 'close');
});

test('when the rate of the service does not allow it in the time to wait, that is the reason', async () => {
  await chats.send([event('DeployStarted')]);
  // As if so many had just been sent: times to come count from the moment they are read.
  const later = Date.now() + 3_600_000;
  change('discord.json', { sent: Array.from({ length: 30 }, () => later) });
  const ended = await chats.send([event('DeploySuccess')], ['--wait', '0', '--json']);
  const [result, , why] = outcome(ended);
  assert.is(result, 'queued');
  assert.match(String(why), /^the rate limit allows the next message in \d+ s$/);
  assert.is(ended.stderr, saying(why));
});

test.run();
