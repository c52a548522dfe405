/**
 * The contract that every channel keeps. The list is that of the folders: one that is missing in
 * SUBJECTS fails the first test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_TYPES, type EventType, isStateEvent } from '@runner/common/audit/events';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/channels';
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { findSecret } from '@runner/testing/secret-search';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHANNELS } from '../src/channels/index.ts';
import { noticeOf } from '../src/message/notice.ts';
import type { Message } from '../src/service/contract.ts';
import { type Chats, event, startChats } from './chats.ts';
import { takesAnyKind, takesAnything } from './hostile-records.ts';
import { NOTICE_OPTIONS } from './notices.ts';
import { fresh, open, SUBJECTS } from './subjects.ts';

let chats: Chats;
test.before(async () => {
  chats = await startChats();
});
test.after(() => chats.close());

const source = join(__dirname, '../../tools/runner-notify/src');
const folders = readdirSync(join(source, 'channels'), { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name)
  // No messages: a report to the code host of an app, and what telemetry records. They have tests of their own.
  .filter((name) => name !== 'code-host' && name !== 'telemetry')
  .sort();

test('every channel is a folder and a line in the index, and is held to the contract', () => {
  for (const each of [CHANNEL_NAMES, Object.keys(SUBJECTS)])
    assert.equal([...each].sort(), folders);
});

test('what is not about one channel names none: only lists, options and the words of their help do', () => {
  const named = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !folders.some((name) => file.includes(`/${name}/`)))
    .filter((file) => {
      const code = readFileSync(join(source, file), 'utf8').replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');
      return folders.some((name) => code.toLowerCase().includes(name));
    });
  assert.equal(named.sort(), [
    'channels/index.ts',
    'channels/options.ts',
    'commands/send.ts',
    'commands/setup.ts',
    'commands/status.ts',
    'commands/test.ts',
    'main.ts',
  ]);
});

const messagesOf = async (name: string, fields: Record<string, unknown>, redact = redactor()) => {
  const record = {
    kind: 'DeployFailure',
    project: 'shop',
    fields: event('DeployFailure', fields),
  } as const;
  const notice = await noticeOf(record, {
    ...NOTICE_OPTIONS,
    redact,
  });
  return CHANNELS[name as ChannelName].messages(notice, undefined, () => {});
};

for (const [name, subject] of Object.entries(SUBJECTS)) {
  const { messages: messagesFor } = CHANNELS[name as ChannelName];

  test(`${name}: every kind of event is one message that names its project, and its deploy if it has one`, async () => {
    const server = fresh(subject, chats);
    const channel = open(name as ChannelName, chats);
    for (const kind of EVENT_TYPES) {
      const record = { kind, project: 'shop', fields: event(kind) };
      const notice = await noticeOf(record, NOTICE_OPTIONS);
      const [message, ...others] = messagesFor(notice, undefined, () => {});
      assert.is(others.length, 0);
      const outcome = await channel.send(message as Message);
      assert.ok(outcome.class === 'delivered' && outcome.rest === 0);
    }
    assert.is(server.messages.length, EVENT_TYPES.length);
    for (const [index, { payload }] of server.messages.entries()) {
      assert.match(JSON.stringify(payload), /shop/);
      const names = JSON.stringify(payload).includes('a1b2c3d4');
      assert.is(names, !isStateEvent(EVENT_TYPES[index] as EventType));
    }
  });

  test(`${name}: the service takes whatever a record holds, shows it as it is and calls no one`, async () => {
    await takesAnything(name as ChannelName, chats, 30);
    await takesAnyKind(name as ChannelName, chats, 5);
  });

  test(`${name}: the service takes 100 KB of log, and the longest of values`, async () => {
    const server = fresh(subject, chats);
    const channel = open(name as ChannelName, chats);
    for (const character of ['x', '`', '\\', '😀', '.']) {
      const value = character.repeat(50_000);
      for (const message of await messagesOf(name, {
        version: value,
        instance: value,
        previous_version: value,
        error: value,
      })) {
        assert.is((await channel.send(message)).class, 'delivered');
      }
    }
    assert.is(server.messages.length, subject.wholeLog ? 5 : 10);
  });

  test(`${name}: every form of a message is taken, and there is an end of shorter ones`, async () => {
    const channel = open(name as ChannelName, chats);
    for (const first of await messagesOf(name, { error: 'a.b `c` \\d\n'.repeat(900) })) {
      const forms: Message[] = [];
      for (let form: Message | undefined = first; form; form = form.instead('length'))
        forms.push(form);
      assert.ok(forms.length > 1 && forms.length < 10);
      const plain = first.instead('markup');
      for (const form of plain ? [...forms, plain] : forms) {
        assert.is((await channel.send(form)).class, 'delivered');
      }
    }
  });

  test(`${name}: a secret in any field arrives nowhere`, async () => {
    const server = fresh(subject, chats);
    const channel = open(name as ChannelName, chats);
    for (const secret of subject.secrets(chats)) {
      const redact = redactor([new Secret(secret)]);
      const text = `${'word '.repeat(300)}${secret} ${'word '.repeat(300)}`;
      const fields = {
        version: secret,
        instance: secret,
        previous_version: secret,
        reason: secret,
        error: text,
      };
      for (const message of await messagesOf(name, fields, redact)) await channel.send(message);
      assert.equal(
        findSecret(JSON.stringify(server.messages.map(({ payload }) => payload)), secret),
        [],
      );
    }
  });

  for (const [what, [fault, outcome]] of Object.entries(subject.faults)) {
    test(`${name}: ${what} is '${outcome}', told without a secret`, async () => {
      const server = fresh(subject, chats);
      const channel = open(name as ChannelName, chats);
      const [message] = await messagesOf(name, { error: 'boom' });
      server.fail(fault);
      const found = await channel.send(message as Message);
      assert.is(found.class, outcome);
      if (found.class === 'delivered') return;
      const { description, retryable, method } = found.problem;
      assert.ok(description.length > 0 && method.length > 0);
      assert.is(retryable, outcome === 'retry' || outcome === 'wait');
      for (const secret of subject.secrets(chats)) {
        assert.equal(findSecret(JSON.stringify(found), secret), []);
      }
      assert.is(server.requests.length, 1);
    });
  }
}

test.run();
