/** `setup` of the channels that have a section of config.yml, from files and from standard input. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { tree } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chats, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
  chats.configure('# ours\n');
});
test.after.each(() => chats.close());

const setup = (args: readonly string[], stdin = '') =>
  run('runner-notify', ['setup', ...args], { root: chats.root, stdin });
const config = () => readFileSync(join(chats.root, 'config.yml'), 'utf8');
const fileWith = (name: string, text: string) => {
  const path = join(chats.root, name);
  writeFileSync(path, `${text}\n`);
  return path;
};

test('Slack: from standard input, with a test message', async () => {
  const { slack } = chats;
  const ended = await setup(['--channel', 'slack', '--slack-webhook-file', '-'], slack.webhook);
  assert.equal([ended.status, ended.stderr], [0, '']);
  assert.equal(findSecret(ended.stdout, slack.webhook), []);
  assert.is(
    config(),
    `# ours\n\nnotify:\n  channel: slack\n  slack:\n    webhook: ${slack.webhook}\n`,
  );
  assert.is(slack.messages.length, 1);
});

test('ntfy, e-mail and a webhook at once: what was active stays, the choice is a list', async () => {
  const { ntfy, mail, receiver, hook } = chats;
  chats.configure(`notify:\n  discord_webhook: ${hook.webhook}\n`);
  const ended = await setup([
    ...['--ntfy-url-file', fileWith('topic', ntfy.topic)],
    ...['--ntfy-token-file', fileWith('token', ntfy.token)],
    ...['--smtp-file', fileWith('smtp', mail.address)],
    ...['--email-from', 'runner@example.org', '--email-to', 'a@example.org,b@example.org'],
    ...['--webhook-url-file', fileWith('url', receiver.address)],
    ...['--webhook-secret-file', fileWith('secret', receiver.secret)],
  ]);
  assert.is(ended.status, 0);
  assert.match(
    ended.stdout,
    /saved ntfy and email and webhook .*; channel: discord, ntfy, email, webhook\nThe test message was delivered\. Next: /,
  );
  assert.match(config(), /to:\n {6}- a@example.org\n {6}- b@example.org\n/);
  const counts = [ntfy, mail, receiver].map(({ messages }) => messages.length);
  assert.equal(counts, [1, 1, 1]);
  const shown = await run('runner-notify', ['status', '--json'], { root: chats.root });
  assert.equal(
    JSON.parse(shown.stdout).channels.flatMap((each: { active: boolean; channel: string }) =>
      each.active ? [each.channel] : [],
    ),
    ['discord', 'ntfy', 'email', 'webhook'],
  );
  for (const secret of [ntfy.token, mail.password, receiver.secret, receiver.address])
    assert.equal(findSecret(ended.stdout + ended.stderr + shown.stdout, secret), []);
});

for (const [args, stdin, sentence] of [
  [
    ['--channel', 'slack', '--slack-webhook-file', '-'],
    'http://hooks.example.org/x',
    'notify.slack.webhook must be https',
  ],
  [
    ['--channel', 'email', '--smtp-file', '-', '--email-from', 'nobody', '--email-to', 'a@b.c'],
    'smtps://mail.example.org',
    'notify.email.from must be an address such as ops@example.org',
  ],
  [['--channel', 'ntfy'], '', '--ntfy-url-file <FILE> (or RUNNER_NTFY_URL)'],
] as const) {
  test(`${args.join(' ')} with '${stdin}' changes nothing and says why`, async () => {
    const before = tree(chats.root);
    const ended = await setup(args, stdin);
    assert.ok(ended.status !== 0);
    assert.match(ended.stderr, sentence);
    assert.equal(tree(chats.root), before);
  });
}

test('an address that the service does not know is refused, and nothing is saved', async () => {
  const { slack } = chats;
  const ended = await setup(
    ['--channel', 'slack', '--slack-webhook-file', '-'],
    slack.webhook.replace('T024BE7LD', 'T000000'),
  );
  assert.is(ended.status, 1);
  assert.match(ended.stderr, 'no_service');
  assert.is(config(), '# ours\n');
});

test.run();
