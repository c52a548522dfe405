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

test('a recipient that is refused for now gets the mail later, however its domain is written', async () => {
  const refused = new Set([
    'Ops@example.org',
    'b@bücher.example',
    'jörg@bücher.example',
    'a@[127.0.0.1]',
  ]);
  const server = await startMailServer({
    onRcptTo({ address }, _, callback) {
      const error = Object.assign(new Error('not now'), { responseCode: 451 });
      callback(refused.has(address) ? error : null);
    },
  });
  const root = rootFor(server, {
    from: 'Deploys: prod (eu) <runner@example.org>',
    to: '[Ops@Example.ORG, "b@bücher.example", "jörg@bücher.example", "a@[127.0.0.1]", c@example.org]',
  });
  const stdin = `${JSON.stringify(event('DeployStarted'))}\n`;
  const args = ['send', '--json', '--wait', '0'];
  const { stdout } = await run('runner-notify', args, { root, stdin });
  assert.is(JSON.parse(stdout).result, 'queued');
  const late = [...refused];
  refused.clear();
  await run('runner-notify', ['flush', '--now'], { root });
  assert.equal(
    server.messages.map(({ to }) => to),
    [['c@example.org'], late],
  );
  assert.match(server.messages[0]?.raw ?? '', 'From: "Deploys: prod (eu)" <runner@example.org>');
  await server.close();
});

test('a mail that was given up before the server had it is not sent after all', async () => {
  const server = await startMailServer({
    onRcptTo: (_, __, callback) => setTimeout(callback, 7_000),
  });
  const root = rootFor(server, { to: 'a@example.org' });
  const records = ['a1b2c3d4', 'b1b2c3d4'].map((id) => event('DeployStarted', { deploy_id: id }));
  const stdin = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  // The process goes on for 5 s with the second when it has given up the first.
  const { stdout } = await run('runner-notify', ['send', '--wait', '0'], { root, stdin });
  assert.equal([stdout.match(/^queued/gm)?.length, server.messages.length], [2, 0], stdout);
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
  const { result, code, description, hint } = await sent(server, [event('DeployStarted')]);
  assert.equal([result, server.messages.length], ['queued', 0]);
  assert.equal(
    [code, description],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed'],
  );
  assert.match(hint, /check the certificate .* NODE_EXTRA_CA_CERTS$/);
  await server.close();
});

test('smtps to a server without TLS is reported in words', async () => {
  const server = await startMailServer();
  const address = server.address.replace('smtp:', 'smtps:');
  const { result, description, hint } = await sent({ ...server, address }, [
    event('DeployStarted'),
  ]);
  assert.equal([result, description], ['queued', 'it does not speak TLS']);
  assert.match(hint, 'smtps:// needs TLS from the start, smtp:// STARTTLS');
  await server.close();
});

test('a server that wants a login stops the channel, and the login is what to check', async () => {
  const server = await startMailServer({
    onMailFrom: (_, __, callback) =>
      callback(Object.assign(new Error('Authentication required'), { responseCode: 530 })),
  });
  const { result, hint } = await sent(server, [event('DeployStarted'), event('DeploySuccess')]);
  assert.equal([result, server.requests.length], ['rejected', 1]);
  assert.is(hint, 'check the user and the password in notify.email.smtp');
  await server.close();
});

test('a mail that the server takes its time to accept is not sent again', async () => {
  let mails = 0;
  const server = await startMailServer({
    onData(stream, _, callback) {
      mails += 1;
      stream.on('end', () => setTimeout(callback, 7_000)).resume();
    },
  });
  const { result } = await sent(server, [event('DeployStarted')]);
  assert.equal([result, mails], ['delivered', 1]);
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
