/** What `send` does when the disk takes nothing more. Mounting needs root; without it these are left out. */
import { spawnSync } from 'node:child_process';
import { shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';

const canMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

const test = chatsSuite();

/** Announces a record on a root of 64 KiB that `fill` has filled, in a mount namespace of its own. */
function sendOn(fill: string, args: string) {
  const disk = shellWord(temporaryFolder('disk'));
  const script = [
    'set -e',
    `mount -t tmpfs -o size=64k,mode=755 tmpfs ${disk}`,
    `cp ${shellWord(chats.root)}/config.yml ${disk}/config.yml`,
    `mkdir ${disk}/logs`,
    `echo '{"old":"record"}' > ${disk}/logs/deploy-events.jsonl`,
    fill.replaceAll('ROOT', disk),
    `runner-notify send --json ${args} --root ${disk} || echo "status $?"`,
    `echo "log $(cat ${disk}/logs/deploy-events.jsonl)"`,
    `ls -R ${disk}`,
  ].join('\n');
  const stdin = `${JSON.stringify(event('DeployStarted'))}\n`;
  return shell(`exec unshare -m sh -c ${shellWord(script)}`, { stdin });
}

const FULL = 'dd if=/dev/zero of=ROOT/filler bs=1k count=64 2>/dev/null || true';

test('a full disk: the queue that cannot be written is reported, the message is delivered, the status is 1', async () => {
  if (!canMount) return;
  const ended = await sendOn(FULL, '--channel discord');
  assert.match(
    ended.stderr,
    /^runner notify send: discord: DeployStarted of shop cannot be queued: cannot write .*: no space left on the disk\n/,
  );
  const [line = '', ...rest] = ended.stdout.split('\n');
  assert.equal(
    [JSON.parse(line).result, JSON.parse(line).messages, rest[0], rest[1]],
    ['delivered', 1, 'status 1', 'log {"old":"record"}'],
  );
  assert.is(chats.hook.messages.length, 1);
  assert.not.match(ended.stdout, /\.tmp\n/);
});

test('a full disk and a chat that fails: the message is lost, and stderr says so', async () => {
  if (!canMount) return;
  chats.hook.fail('html', 99);
  const ended = await sendOn(FULL, '--channel discord --wait 0');
  assert.is(JSON.parse(ended.stdout.split('\n')[0] ?? '').result, 'failed');
  assert.match(ended.stdout, '\nstatus 1\n');
  assert.match(
    ended.stderr,
    'DeployStarted of shop was not delivered: the answer has HTTP status 502',
  );
});

test('a root that cannot be written at all: still delivered, and reported', async () => {
  if (!canMount) return;
  const ended = await sendOn('mount -o remount,ro tmpfs ROOT', '');
  const results = ended.stdout.split('\n').slice(0, 2);
  assert.equal(
    results.map((line) => JSON.parse(line).result),
    ['delivered', 'delivered'],
  );
  assert.match(ended.stderr, 'telegram: DeployStarted of shop cannot be queued: ');
  assert.match(ended.stdout, '\nstatus 1\n');
});

test('setup reports a root that cannot be written before it asks any service', async () => {
  if (!canMount) return;
  const root = temporaryFolder('disk');
  const disk = shellWord(root);
  const script = [
    'set -e',
    `mount -t tmpfs -o size=64k,mode=755 tmpfs ${disk}`,
    `mount -o remount,ro tmpfs ${disk}`,
    `runner-notify setup --webhook-file - --root ${disk}`,
  ].join('\n');
  const ended = await shell(`exec unshare -m sh -c ${shellWord(script)}`, {
    stdin: chats.hook.webhook,
  });
  assert.equal(
    [ended.status, ended.stdout, ended.stderr],
    [
      1,
      '',
      `runner notify setup: cannot write ${root}/config.yml: the file system is read-only (not_writable)\n`,
    ],
  );
  assert.is(chats.hook.requests.length, 0);
});

test.run();
