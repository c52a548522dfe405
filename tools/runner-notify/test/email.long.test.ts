/** E-mail against a real mail server, with TLS and a login. */
import { startMailServer } from '@runner/testing/mail-server';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event } from './chats.ts';
import { rootFor, sent, trusted } from './email.ts';

for (const [code, results] of [
  [450, ['queued', 'delivered']],
  [550, ['rejected']],
] as const) {
  test(`a recipient that is refused with ${code} is reported, and the others get one mail`, async () => {
    const refused = new Set(['b@example.org']);
    const server = await startMailServer({
      ...trusted.files,
      onRcptTo({ address }, _, callback) {
        const error = Object.assign(new Error('not now'), { responseCode: code });
        callback(refused.has(address) ? error : null);
      },
    });
    const root = rootFor(server);
    const stdin = `${JSON.stringify(event('DeployStarted'))}\n`;
    const first = await run('runner-notify', ['send', '--json', '--wait', '0'], { root, stdin });
    const { result, description } = JSON.parse(first.stdout.split('\n')[0] ?? '');
    assert.is(result, results[0], first.stdout);
    assert.match(description, /b@example\.org: .*not now/);
    refused.clear();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await run('runner-notify', ['flush'], { root });
    const to = server.messages.map((mail) => mail.to);
    const second = results.length > 1 ? [['b@example.org']] : [];
    assert.equal(to, [['a@example.org'], ...second]);
    const status = await run('runner-notify', ['status', '--json', '--offline'], { root });
    const { channels } = JSON.parse(status.stdout) as {
      channels: { channel: string; dead: number; last_error: { description: string } }[];
    };
    const email = channels.find(({ channel }) => channel === 'email');
    assert.is(email?.dead, code === 550 ? 1 : 0);
    assert.match(email?.last_error.description ?? '', /^b@example\.org: .*not now/);
    await server.close();
  });
}

test('a mailbox that is full for now does not keep the next messages of a deploy from the others', async () => {
  const server = await startMailServer({
    ...trusted.files,
    onRcptTo({ address }, _, callback) {
      const error = Object.assign(new Error('mailbox full'), { responseCode: 452 });
      callback(address === 'b@example.org' ? error : null);
    },
  });
  const root = rootFor(server);
  for (const kind of ['DeployStarted', 'DeployFailure']) {
    const stdin = `${JSON.stringify(event(kind, { error: 'boom' }))}\n`;
    await run('runner-notify', ['send', '--wait', '0'], { root, stdin });
  }
  const got = server.messages.map(({ to, payload }) =>
    [/started|failed/.exec(payload.subject), to].join(),
  );
  assert.equal(got, ['started,a@example.org', 'failed,a@example.org']);
  await server.close();
});

test('smtp: STARTTLS is used where the server offers it', async () => {
  const server = await startMailServer({ ...trusted.files });
  assert.is((await sent(server, [event('DeployStarted')])).result, 'delivered');
  assert.is(server.messages[0]?.secure, true);
  await server.close();
});

test('smtp to this machine works without TLS', async () => {
  const server = await startMailServer({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
  assert.is((await sent(server, [event('DeployStarted')])).result, 'delivered');
  assert.is(server.messages[0]?.secure, false);
  await server.close();
});

test('a certificate that nothing vouches for gets neither login nor mail', async () => {
  const server = await startMailServer({ tls: true, ...trusted.files });
  const { result } = await sent(server, [event('DeployStarted')]);
  assert.equal([result, server.messages.length], ['queued', 0]);
  await server.close();
});

test('what the server refuses for good is rejected, what it refuses for now stays queued', async () => {
  const server = await startMailServer();
  server.fail({ at: 'data', code: 554, words: 'spam' });
  assert.is((await sent(server, [event('DeployStarted')])).result, 'rejected');
  server.fail({ at: 'data', code: 451 }, 99);
  assert.is((await sent(server, [event('DeployStarted')])).result, 'queued');
  await server.close();
});

test.run();
