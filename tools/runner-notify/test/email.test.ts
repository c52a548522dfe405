/** E-mail against a real mail server, with TLS and a login. */
import { startMailServer } from '@runner/testing/mail-server';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event } from './chats.ts';
import { sent, trusted } from './email.ts';

test('smtps: TLS from the start, a login, every recipient, one conversation for a deploy', async () => {
  const server = await startMailServer({ tls: true, ...trusted.files });
  const failure = event('DeployFailure', { error: 'Error: größer als 漢字 😀\n.\n..dots' });
  const env = { NODE_EXTRA_CA_CERTS: trusted.cert };
  const found = await sent(server, [event('DeployStarted'), failure], { env });
  assert.is(found.result, 'delivered');
  assert.is(server.messages.length, 2);
  const [first, second] = server.messages;
  assert.equal([first?.secure, first?.user], [true, 'runner@example.org']);
  assert.equal(first?.to, ['a@example.org', 'b@example.org']);
  assert.is(first?.payload.subject, '🚀 Deploy started: shop / prod-1 v1.3.0');
  assert.match(second?.payload.text ?? '', 'Error: größer als 漢字 😀\n.\n..dots');
  const header = (name: string, raw = '') => new RegExp(`^${name}: (.*)\r$`, 'im').exec(raw)?.[1];
  assert.is(header('References', first?.raw), header('References', second?.raw));
  assert.is.not(header('Message-ID', first?.raw), header('Message-ID', second?.raw));
  assert.match(header('Message-ID', first?.raw) ?? '', /^<[0-9a-f]{24}@example\.org>$/);
  assert.match(header('References', first?.raw) ?? '', /^<deploy\.[\w-]+@example\.org>$/);
  assert.is(header('Auto-Submitted', first?.raw), 'auto-generated');
  await server.close();
});

test('a wrong password stops the channel, and its words lose the password', async () => {
  const server = await startMailServer();
  server.fail({ at: 'login', code: 535, words: `no such login: ${server.password}` });
  const { result, code, description } = await sent(server, [event('DeployStarted')]);
  assert.equal([result, code], ['rejected', 535]);
  assert.match(description, 'no such login: [REDACTED]');
  await server.close();
});

test.run();
