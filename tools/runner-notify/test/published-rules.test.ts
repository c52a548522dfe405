/** Slack's, ntfy's and Standard Webhooks' own published rules and examples as judges. */
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { startLoopback } from '@runner/testing/loopback';
import { WEBHOOK_SECRET } from '@runner/testing/receiver';
import { readSlack } from '@runner/testing/slack';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ntfy } from '../src/channels/ntfy/ntfy.ts';
import { slack } from '../src/channels/slack/slack.ts';
import { webhook } from '../src/channels/webhook/webhook.ts';
import { noticeOf } from '../src/message/notice.ts';
import type { Channel, ChatService, Message, SendOutcome } from '../src/service/contract.ts';
import { event } from './chats.ts';
import { NOTICE_OPTIONS } from './notices.ts';

const line = { env: {}, redact: redactor() };

type Answer = readonly [status: number, body: string, headers: Record<string, string>];

/** What becomes of a message that gets this answer. */
async function outcomeOf(open: (url: string) => Channel, answer: Answer): Promise<SendOutcome> {
  const [status, body, headers] = answer;
  const server = await startLoopback({
    route: () => 'any',
    answer(_, response) {
      response.writeHead(status, headers);
      response.end(body);
    },
  });
  const outcome = await open(server.url).sendTest();
  await server.close();
  return outcome;
}

async function messageOf(service: ChatService, fields: Record<string, unknown>): Promise<Message> {
  const record = { kind: 'DeployFailure', project: 'shop', fields: event('DeployFailure', fields) };
  const notice = await noticeOf(record as never, NOTICE_OPTIONS);
  return service.messages(notice, undefined, () => {})[0] as Message;
}

const inShort = (outcome: SendOutcome) =>
  outcome.class === 'wait' ? `wait ${outcome.delay / 1000}` : outcome.class;

const slackAt = (url: string) =>
  slack.connect({ slack: { webhook: new Secret(`${url}/services/T/B/x`) } }, line) as Channel;

/** api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks, and the rate limits. */
const SLACK: readonly (readonly [...Answer, wanted: string])[] = [
  [200, 'ok', {}, 'delivered'],
  [400, 'invalid_payload', {}, 'rejected'],
  [400, 'user_not_found', {}, 'rejected'],
  [403, 'action_prohibited', {}, 'rejected'],
  [404, 'channel_not_found', {}, 'gone'],
  [404, 'no_service', {}, 'gone'],
  [410, 'channel_is_archived', {}, 'rejected'],
  [500, 'rollup_error', {}, 'retry'],
  [429, 'rate_limited', { 'Retry-After': '30' }, 'wait 30'],
];

for (const [status, body, headers, wanted] of SLACK) {
  test(`Slack: ${status} ${body} is ${wanted}`, async () => {
    assert.is(inShort(await outcomeOf(slackAt, [status, body, headers])), wanted);
  });
}

test("Slack: the documentation's example is escaped as it is there", async () => {
  const { payload } = await messageOf(slack, { error: 'Hello & <world> 🌊' });
  assert.match(String(payload.text), 'Hello &amp; &lt;world&gt; 🌊');
});

test("Slack: the documentation's ways to call people call no one", async () => {
  const calls =
    '<@U024BE7LH> <#C024BE7LR> <!subteam^SAZ94GDB8> <!here> <!channel> <!everyone> @here';
  const { payload } = await messageOf(slack, { version: calls, error: calls });
  const { shown, mentions } = readSlack(String(payload.text));
  assert.equal([mentions, shown.includes(calls)], [[], true]);
});

test('Slack: no message is so long that Slack would split it inside its block of code', async () => {
  for (const character of ['x', '<', '😀']) {
    const fields = { error: character.repeat(4_000), version: character.repeat(200) };
    const record = {
      kind: 'DeployFailure',
      project: 'shop',
      fields: event('DeployFailure', fields),
    };
    const messages = slack.messages(
      await noticeOf(record as never, NOTICE_OPTIONS),
      undefined,
      () => {},
    );
    const lengths = messages.map(({ payload }) => String(payload.text).length);
    assert.ok(lengths.every((length) => length <= 4_000) && lengths.length === 2, `${lengths}`);
  }
});

const ntfyAt = (url: string) =>
  ntfy.connect({ ntfy: { url: new Secret(`${url}/topic`) } }, line) as Channel;
const ntfyError = (code: number) => JSON.stringify({ code, http: 0, error: 'words' });

/** github.com/binwiederhier/ntfy, server/errors.go. */
const NTFY: readonly (readonly [code: number, wanted: string])[] = [
  [40009, 'rejected'],
  [40010, 'rejected'],
  [40014, 'rejected'],
  [40024, 'rejected'],
  [40101, 'gone'],
  [40301, 'rejected'],
  [40401, 'gone'],
  [41303, 'rejected'],
  [42901, 'wait 5'],
  [42908, 'wait 900'],
  [42909, 'wait 5'],
  [50001, 'retry'],
  [50701, 'retry'],
];

for (const [code, wanted] of NTFY) {
  test(`ntfy: the error ${code} is ${wanted}`, async () => {
    const answer = [Math.floor(code / 100), ntfyError(code), {}] as const;
    assert.is(inShort(await outcomeOf(ntfyAt, answer)), wanted);
  });
}

test('ntfy: a message has at most 4,096 bytes, and 8,192 as JSON, whatever it is made of', async () => {
  for (const character of ['x', '"', '\\', '漢', '😀', '\n.']) {
    const error = character.repeat(4_000);
    const { payload } = await messageOf(ntfy, { error, version: character.repeat(200) });
    assert.ok(Buffer.byteLength(String(payload.message)) <= 4_096);
    const body = JSON.stringify({ topic: 'x'.repeat(64), ...payload });
    assert.ok(Buffer.byteLength(body) <= 8_192, `${Buffer.byteLength(body)} of ${character}`);
  }
});

const HOOK_SECRET = new Secret(WEBHOOK_SECRET);
const hookAt = (url: string) =>
  webhook.connect({ webhook: { url: new Secret(url), secret: HOOK_SECRET } }, line) as Channel;

/** github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Deliverability and reliability". */
const WEBHOOKS: readonly (readonly [...Answer, wanted: string])[] = [
  [200, 'anything', {}, 'delivered'],
  [299, '', {}, 'delivered'],
  [301, '', { Location: 'http://127.0.0.1:9' }, 'retry'],
  [404, '', {}, 'retry'],
  [410, '', {}, 'gone'],
  [429, '', { 'Retry-After': '7' }, 'wait 7'],
  [500, '', {}, 'retry'],
  [502, '', {}, 'retry'],
  [503, '', { 'Retry-After': '120' }, 'wait 120'],
  [504, '', {}, 'retry'],
];

for (const [status, body, headers, wanted] of WEBHOOKS) {
  test(`Standard Webhooks: ${status} is ${wanted}`, async () => {
    assert.is(inShort(await outcomeOf(hookAt, [status, body, headers])), wanted);
  });
}

test('Standard Webhooks: a Retry-After may be a date', async () => {
  const date = new Date(Date.now() + 90_000).toUTCString();
  const outcome = await outcomeOf(hookAt, [503, '', { 'Retry-After': date }]);
  assert.ok(outcome.class === 'wait' && outcome.delay > 80_000 && outcome.delay <= 90_000);
});

test('Standard Webhooks: a body has less than 20 kB, its id no full stop', async () => {
  for (const character of ['"', '漢', '😀']) {
    const error = character.repeat(40_000);
    const { payload } = await messageOf(webhook, { error, version: character.repeat(200) });
    assert.ok(Buffer.byteLength(JSON.stringify(payload)) < 20_000);
    assert.match(String(payload.id), /^msg_[0-9a-f]{32}$/);
  }
});

test.run();
