/** Slack by an incoming webhook; Mattermost and Rocket.Chat take the same body. */
import type { SectionSettings } from '@runner/common/config/channels';
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import { TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { Slot } from '../../message/template.ts';
import type { Channel, Rate, RequestLine, SendOutcome } from '../../service/contract.ts';
import { ask, type Call, exchange, foreignAnswer, refusedAnswer } from '../../service/exchange.ts';
import { inspectionOf, maskedAddress, onlyForm, sectionService } from '../../service/section.ts';
import { type Markup, textWriting } from '../../service/text.ts';

/** docs.slack.dev/apis/web-api/rate-limits: one message per second for an incoming webhook. */
const RATES: readonly Rate[] = [{ count: 1, per: 1_000 }];
/** Slack splits a longer text, even inside a block of code: slackapi/java-slack-sdk#704. */
const TEXT_MAX = 4_000;
const METHOD = 'POST webhook';

/** Stands for a back-tick inside code, where Slack has no escape. */
const TICK = '\u02cb';
const GAP = '\u200b';

/** The three characters that are control characters: docs.slack.dev/messaging/formatting-message-text. */
function entities(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

const inFence = (text: string) => entities(text).replace(/`(?=``)/g, `\`${GAP}`);

const mrkdwn: Markup = {
  words: entities,
  bold: (text) => `*${entities(text)}*`,
  // Without a character between the ticks they would be shown.
  code: (value) => `\`${entities(value).replaceAll('`', TICK) || ' '}\``,
  link: (text, url) => `<${entities(url).replaceAll('|', '%7C')}|${entities(text)}>`,
  pre: (text) => `\`\`\`\n${inFence(text)}\n\`\`\``,
};

/** A value escaped for its slot of a template. An invisible character ends what would be markup. */
function escapeValue(value: string, slot: Slot): string {
  if (slot === 'code') return entities(value).replaceAll('`', TICK);
  if (slot === 'pre') return inFence(value).replace(/`$/, `\`${GAP}`);
  if (slot === 'link') return entities(value).replace(/[|\s`]/g, encodeURIComponent);
  return entities(value).replace(/[*_~`@#:]/g, `$&${GAP}`);
}

const payloadOf = (text: string) => ({ text, unfurl_links: false, unfurl_media: false });

const writing = textWriting({
  channel: 'slack',
  markup: mrkdwn,
  codeEscapes: false,
  titled: false,
  escapeValue,
  plainLiteral: (literal) => literal,
  max: TEXT_MAX,
  fits: (marked) => marked.length <= TEXT_MAX,
  payload: ({ text, plain }) => ({ ...payloadOf(text), ...(plain && { mrkdwn: false }) }),
});

/** What to check, by the words of the answer: docs.slack.dev/messaging/sending-messages-using-incoming-webhooks. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /no_service|no_active_hooks|invalid_token|no_team|team_disabled/,
    'check the webhook address: it was removed or turned off; create a new one in the settings of the Slack app',
  ],
  [/channel_not_found|channel_is_archived/, 'check that the channel of the webhook exists'],
  [
    /action_prohibited|posting_to_general_channel_denied/,
    'an administrator of the workspace has forbidden this',
  ],
];

/** Slack answers in one word of plain text. */
function judge(call: Call, answer: HttpAnswer): SendOutcome {
  const { status, body } = answer;
  const word = body.trim();
  // Rocket.Chat answers an object.
  const taken = word === 'ok' || jsonObject(word)?.success === true;
  if (status < 300 && taken) return { class: 'delivered', rest: 0 };
  if (!/^[a-z_]{2,60}$/.test(word) || status < 400) return foreignAnswer(call, answer);
  // 403 and 410: the webhook or its channel is not there any more.
  const gone = /no_service|no_active_hooks|invalid_token|no_team|team_disabled/.test(word);
  return refusedAnswer(call, answer, {
    status: gone && status < 500 ? 404 : status,
    description: word,
    hint: HINTS.find(([text]) => text.test(word))?.[1],
    complaint: /too_long|too_large/.test(word) ? 'length' : undefined,
  });
}

/** An empty message is refused, which shows that the webhook exists. */
function judgeProbe(call: Call, answer: HttpAnswer): SendOutcome {
  return answer.status === 400 ? { class: 'delivered', rest: 0 } : judge(call, answer);
}

/** Announces through one webhook. */
function connectSlack({ webhook }: SectionSettings['slack'], line: RequestLine): Channel {
  const call = { ...line, method: METHOD };
  const send: Channel['send'] = ({ payload: body }, timeout) =>
    exchange(call, webhook.reveal(), { method: 'POST', body, timeout }, judge);
  return {
    rates: RATES,
    send,
    inspect: async () =>
      inspectionOf(await ask(call, webhook.reveal(), { method: 'POST', body: {} }, judgeProbe)),
    sendTest: () => send(onlyForm(payloadOf(`🔔 *${TEST_TITLE}*\n${TEST_TEXT}`))),
  };
}

export const slack = sectionService('slack', {
  title: 'Slack',
  secret: 'address',
  unhealthy: 'the webhook does not accept messages',
  method: METHOD,
  mask: maskedAddress,
  placeOf: () => "the webhook's channel",
  writing,
  connect: ({ slack: hook }, line) => hook && connectSlack(hook, line),
  placeholders: { 'slack.webhook': 'https://hooks.slack.com/services/T/B/x' },
});
