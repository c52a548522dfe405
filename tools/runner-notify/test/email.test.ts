/** E-mail against a real mail server, with TLS and a login. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MailServer, startMailServer } from '@runner/testing/mail-server';
import { type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event } from './chats.ts';

/** A certificate for this machine that nothing trusts until it is named. */
function certificate() {
  const folder = temporaryFolder('tls');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    [...args, '-nodes', ...names, '-days', '1', '-keyout', key, '-out', cert],
    {
      stdio: 'ignore',
    },
  );
  return { cert, files: { key: readFileSync(key), cert: readFileSync(cert) } };
}

const trusted = certificate();

/** A root that sends to two recipients. */
function rootFor(server: MailServer): string {
  const root = temporaryFolder('email');
  const lines = `{ smtp: "${server.address}", from: "runner <runner@example.org>", to: [a@example.org, b@example.org] }`;
  writeFileSync(join(root, 'config.yml'), `notify:\n  email: ${lines}\n`, { mode: 0o600 });
  return root;
}

async function sent(server: MailServer, records: readonly object[], options: RunOptions = {}) {
  const root = rootFor(server);
  const stdin = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const ended = await run('runner-notify', ['send', '--json'], { root, stdin, ...options });
  const { password } = server;
  for (const secret of [password, encodeURIComponent(password), server.address])
    assert.equal(findSecret(ended.stdout + ended.stderr, secret), []);
  const { result, code, description } = JSON.parse(ended.stdout.split('\n')[0] ?? '');
  return { result, code, description };
}

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

test('a wrong password stops the channel, and its words lose the password', async () => {
  const server = await startMailServer();
  server.fail({ at: 'login', code: 535, words: `no such login: ${server.password}` });
  const { result, code, description } = await sent(server, [event('DeployStarted')]);
  assert.equal([result, code], ['rejected', 535]);
  assert.match(description, 'no such login: [REDACTED]');
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
