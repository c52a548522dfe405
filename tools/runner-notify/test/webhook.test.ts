/** The webhook channel, judged by the reference library of Standard Webhooks and its vector. */
import { WEBHOOK_SECRET } from '@runner/testing/receiver';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { signedHeaders } from '../src/channels/webhook/webhook.ts';
import { type Chats, event, startChats } from './chats.ts';

let chats: Chats;
test.before.each(async () => {
  chats = await startChats();
  const { address, secret } = chats.receiver;
  chats.configure(`notify: { webhook: { url: "${address}", secret: ${secret} } }\n`);
});
test.after.each(() => chats.close());

test("the signature is that of the libraries' published vector", () => {
  const headers = signedHeaders(
    WEBHOOK_SECRET,
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  );
  assert.is(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('the reference library verifies any body, and refuses one that was changed', () => {
  const library = new Webhook(WEBHOOK_SECRET);
  const seconds = Math.floor(Date.now() / 1000);
  for (const body of ['{}', '{"text":"größer 漢字 😀 \\u0000"}', `{"a":"${'x'.repeat(20_000)}"}`]) {
    const headers = signedHeaders(WEBHOOK_SECRET, 'msg_1', seconds, body);
    assert.equal(library.verify(body, headers), JSON.parse(body));
    assert.throws(() => library.verify(`${body} `, headers));
  }
});

test('a failure is one event with its error, its log and the words of the message', async () => {
  const error = `Error: boom\n${'at line\n'.repeat(300)}`;
  await chats.send([
    event('DeployFailure', { error, cause: 'Error: boom', user: 'alice', server: 'web1' }),
  ]);
  const [received, ...others] = chats.receiver.messages;
  assert.equal([others, chats.receiver.refused], [[], []]);
  const {
    id,
    type,
    project,
    deploy_id,
    error: cause,
    log,
    text,
    user,
    server,
  } = received?.payload ?? {};
  assert.equal(
    [id, type, project, deploy_id, cause, user, server],
    [received?.id, 'DeployFailure', 'shop', 'a1b2c3d4', 'Error: boom', 'alice', 'web1'],
  );
  assert.match(String(log), /^Error: boom\nat line/);
  assert.match(String(text), /^❌ Deploy failed\nProject: shop\nServer: web1\n/);
});

test('an event that is tried again has the same id', async () => {
  chats.receiver.fail({ status: 503 });
  await chats.send([event('DeployStarted')], ['--wait', '9']);
  const { requests, messages } = chats.receiver;
  const ids = requests.map(({ headers }) => headers['webhook-id']);
  assert.equal([ids.length, new Set(ids).size, messages.length], [2, 1, 1]);
});

test('a receiver that answers 200 with a page of any size gets each event once', async () => {
  chats.receiver.fail({ huge: 300_000 }, 2);
  const sent = await chats.send([event('DeployStarted'), event('DeploySuccess')]);
  assert.match(sent.stdout, /^delivered .*DeployStarted.*\ndelivered .*DeploySuccess/);
  assert.equal([sent.stderr, chats.receiver.requests.length], ['', 2]);
});

test('a redirect is tried again, in words that expect no JSON of a receiver', async () => {
  const elsewhere = await startChats();
  chats.receiver.fail({ redirect: elsewhere.receiver.address, status: 301 });
  const first = await chats.send([event('DeployStarted')], ['--wait', '0', '--json']);
  const { result, http_status, description, hint } = JSON.parse(first.stdout);
  assert.equal(
    { result, http_status, description, hint },
    {
      result: 'queued',
      http_status: 301,
      description: 'the receiver answers with HTTP status 301',
      hint: 'redirects are not followed: check the address',
    },
  );
  const second = await chats.send([event('DeploySuccess')], ['--wait', '9']);
  assert.match(second.stdout, /^delivered /);
  assert.equal([chats.receiver.messages.length, elsewhere.receiver.requests.length], [2, 0]);
  await elsewhere.close();
});

test('a receiver that finds an event too long or asks to wait needs no JSON for it', async () => {
  for (const status of [413, 429]) {
    chats.receiver.fail({ status, body: 'no' }, 9);
    const ended = await chats.send([event('DeployStarted')], ['--wait', '2', '--json']);
    const { description } = JSON.parse(ended.stdout);
    assert.is(description, `the receiver answers with HTTP status ${status}`);
    chats.receiver.heal();
  }
});

test.run();
