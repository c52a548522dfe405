/** `setup` on a terminal, of the channels that have a section of config.yml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { CTRL_C, startOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Chats, startChats } from './chats.ts';

let chats: Chats;
let root: string;
test.before.each(async () => {
  chats = await startChats();
  root = temporaryFolder('setup');
});
test.after.each(() => chats.close());

const setup = (channel: string) =>
  startOnTerminal('runner-notify', ['setup', '--channel', channel], { root, columns: 240 });

/** What is asked, a wrong answer and what is said about it if there is one, the right answer. */
type Question = readonly [question: string, answer: string, wrong?: string, problem?: string];

const QUESTIONS: Readonly<Record<string, (of: Chats) => readonly Question[]>> = {
  slack: ({ slack }) => [
    [
      'Address of the incoming webhook (not shown):',
      slack.webhook,
      'http://hooks.slack.com/x',
      'notify.slack.webhook must be https',
    ],
  ],
  ntfy: ({ ntfy }) => [
    ['Address of the topic', ntfy.topic, 'ntfy.sh', 'notify.ntfy.url is not an https address'],
    ['Access token', ntfy.token],
  ],
  email: ({ mail }) => [
    [
      'Address of the mail server',
      mail.address,
      'https://mail.example.org',
      'notify.email.smtp is not an smtps or smtp address',
    ],
    ['Sender', 'runner@example.org', 'nobody', 'notify.email.from must be an address'],
    ['Recipients', 'a@example.org, b@example.org'],
  ],
  webhook: ({ receiver }) => [
    ['Address that gets the events', receiver.address],
    ['Signing key', receiver.secret, 'whsec_abc', 'notify.webhook.secret must be whsec_'],
  ],
};

for (const [name, questionsOf] of Object.entries(QUESTIONS)) {
  test(`${name}: each key is asked for, again after a wrong answer, tried and saved`, async () => {
    const session = setup(name);
    for (const [question, answer, wrong, problem] of questionsOf(chats)) {
      await session.expect(question);
      if (wrong !== undefined && problem !== undefined) {
        session.enter(wrong);
        await session.expect(problem);
        await session.expect(question);
      }
      session.enter(answer);
    }
    await session.expect('✔ The test message was delivered');
    await session.expect(`saved ${name} in`);
    assert.is((await session.done).status, 0);
    const config = readFileSync(join(root, 'config.yml'), 'utf8');
    assert.match(config, `channel: ${name}\n`);
    const { slack, ntfy, mail, receiver } = chats;
    const taken = { slack, ntfy, email: mail, webhook: receiver }[name];
    assert.is(taken?.messages.length, 1);
    for (const secret of [slack.webhook, ntfy.topic, ntfy.token, mail.password, receiver.secret])
      assert.equal(findSecret(session.raw(), secret), []);
  });
}

test('Ctrl-C in the middle of the questions writes nothing', async () => {
  const session = setup('ntfy');
  await session.answer('Address of the topic', chats.ntfy.topic);
  await session.expect('Access token');
  session.type(CTRL_C);
  assert.is((await session.done).status, 130);
  assert.equal(tree(root), {});
});

test.run();
