import { join } from 'node:path';
import { run, shell, start } from '@runner/testing/run';
import { tree } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { chats, chatsSuite, event } from './chats.ts';

const test = chatsSuite();

test('records are announced as they arrive, while the input stays open', async () => {
  const running = start('runner-notify', ['send'], { root: chats.root });
  const lines = running.stdout[Symbol.asyncIterator]();
  for (const kind of ['DeployStarted', 'DeploySuccess']) {
    running.stdin.write(`${JSON.stringify(event(kind))}\n`);
    assert.match((await lines.next()).value, `delivered  telegram  ${kind} shop`);
    assert.match((await lines.next()).value, `delivered  discord   ${kind} shop`);
  }
  running.stdin.end();
  assert.is((await running.done).status, 0);
});

test('with --once a record of the audit log is sent once, and without it each time', async () => {
  const emit = 'runner-audit emit DeployStarted --project shop --version v1 --deploy-id 12345678';
  const ended = await shell(
    `${emit} > "$RUNNER_ROOT/record" && for option in --once --once '' ''; do
      runner-notify send $option < "$RUNNER_ROOT/record" || exit
    done`,
    { root: chats.root },
  );
  const [telegram, discord] = ['telegram ', 'discord  '].map(
    (channel) => `delivered  ${channel} DeployStarted shop v1 [12345678]`,
  );
  const line = (times: string) => `${telegram}, ${times}\n${discord}, ${times}\n`;
  assert.is(ended.stdout, line('1 message').repeat(4));
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal([chats.bot.messages.length, chats.hook.messages.length], [3, 3]);
});

test('lines that are not records are reported by number, the others are sent, and the status is 1', async () => {
  const ended = await chats.send([
    'nonsense',
    event('GuardBypassed'),
    { event: 'DeployStarted', app: 'api', version: 'v1', deploy_id: '12345678' },
    { event_type: 'DeployStarted' },
  ]);
  assert.is(ended.status, 1);
  assert.is(
    ended.stderr,
    'runner notify send: line 1: it is not a JSON object\nrunner notify send: line 4: the record has no project\n',
  );
  assert.match(chats.bot.messages[0]?.text ?? '', /Project: api\nInstance: default\n/);
  assert.is(chats.hook.messages.length, 1);
});

test('--strict makes an undelivered message a failure, and only then it is one', async () => {
  chats.hook.remove();
  const lenient = await chats.send([event('DeployStarted')]);
  const strict = await chats.send([event('DeployStarted')], ['--strict']);
  assert.equal([lenient.status, strict.status], [0, 1]);
  assert.is(
    lenient.stderr,
    'runner notify send: discord: DeployStarted of shop was not delivered: Unknown Webhook (10015); check that the webhook was not deleted, and its address\n',
  );
  assert.match(
    lenient.stdout,
    /^delivered {2}telegram .*\nrejected {3}discord {3}DeployStarted shop v1\.3\.0 \[a1b2c3d4\], Unknown Webhook\n$/,
  );
});

test('tokens and secrets of the app are redacted: in messages, in the queue and in previews', async () => {
  const { root } = chats;
  const secrets = ['our-own-t0ken-of-shop', 'correct-horse-battery-9'] as const;
  const add = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  assert.is((await run('runner-add', add, { root, stdin: secrets[0] })).status, 0);
  const set = ['set', 'shop', 'DB_PASS', '--file', '-'];
  assert.is((await run('runner-env', set, { root, stdin: secrets[1] })).status, 0);
  const failure = event('DeployFailure', { error: `login failed with ${secrets.join(' and ')}` });
  const dry = await chats.send([failure], ['--dry-run', '--json']);
  const stdin = `${JSON.stringify(failure)}\n`;
  const previewed = await run('runner-notify', ['preview', '--json'], { root, stdin });
  chats.bot.close();
  const queued = await chats.send([failure], ['--channel', 'telegram', '--wait', '0']);
  await chats.send([failure], ['--channel', 'discord']);
  const spooled = Object.entries(tree(join(root, 'spool'))).filter(([path]) => /json$/.test(path));
  const sent = JSON.stringify(chats.hook.messages);
  for (const text of [dry.stdout, previewed.stdout, JSON.stringify(spooled), sent]) {
    assert.match(text, 'login failed with [REDACTED] and [REDACTED]');
    for (const secret of secrets) assert.not.match(text, secret);
  }
  assert.match(queued.stdout, /^queued/);
});

test('an address that no message can be sent to is refused before any is queued', async () => {
  const mail = 'from: a@example.org, to: b@example.org';
  const topic = 'url must be https://SERVER/TOPIC, the topic of letters, digits, - and _';
  for (const [section, words] of [
    [`email: { smtp: "smtp://u:p%ff@mail.example.org", ${mail} }`, 'smtp must write % as %25'],
    ['ntfy: { url: "https://ntfy.sh" }', topic],
    ['ntfy: { url: "https://ntfy.sh/50%zz" }', topic],
    ['ntfy: { url: "https://ntfy.sh/deploys?auth=x" }', topic],
  ] as const) {
    chats.configure(`notify:\n  ${section}\n`);
    const { status, stdout, stderr } = await chats.send([event('DeployStarted')]);
    assert.equal([status, stdout], [1, '']);
    const [name] = section.split(':');
    const file = join(chats.root, 'config.yml');
    const line = `${file}:2: notify.${name}.${words} (insecure_address)`;
    assert.is(stderr, `runner notify send: ${line}\n`);
  }
});

test.run();
