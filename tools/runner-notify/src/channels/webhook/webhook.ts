/**
 * Each event as JSON to any address, signed as Standard Webhooks says:
 * github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 */

import { hashOf } from '@runner/common/audit/chain';
import type { SectionSettings } from '@runner/common/config/channels';
import type { HttpAnswer } from '@runner/common/http/request';
import { codePoints, headAndTail } from '@runner/common/text/plain';
import { TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { Notice } from '../../message/notice.ts';
import { isOfDeploy } from '../../message/records.ts';
import type { Channel, Rate, RequestLine, SendOutcome } from '../../service/contract.ts';
import { messagesOf } from '../../service/draft.ts';
import { type Call, exchange, REDIRECT_HINT, refusedAnswer } from '../../service/exchange.ts';
import { type Fields, wordOf } from '../../service/fields.ts';
import { maskedAddress, onlyForm, sectionService } from '../../service/section.ts';
import { PLAIN, textWriting } from '../../service/text.ts';

type Settings = SectionSettings['webhook'];

/** No limit is published; chosen so that a small receiver can keep up. */
const RATES: readonly Rate[] = [{ count: 10, per: 1_000 }];
/** Bytes of a body: the specification recommends 20 kB at most. */
const BODY_MAX = 20_000;
/** Bytes that the id takes. */
const ID_BYTES = 50;
/** The shortest log worth sending, in code points. */
const LOG_MIN = 100;
const METHOD = 'POST event';

/** The id is the same in every attempt, so that the receiver can skip duplicates. */
function withId(payload: Fields): Fields {
  const digest = hashOf(JSON.stringify(payload));
  return { id: `msg_${digest.slice(0, 32)}`, ...payload };
}

function eventOf(notice: Notice, text: string): Fields {
  const { eventType, deployId, timestamp, previousVersion, fromVersion, rolledBack } = notice;
  const optional = {
    previous_version: previousVersion,
    from_version: fromVersion,
    domain: notice.domain,
    duration: notice.duration,
    reason: notice.reason,
    record: notice.record,
    commit: notice.commit,
    user: notice.user,
    server: notice.server,
    database: notice.database,
    error: notice.error,
  };
  return {
    type: eventType,
    timestamp: timestamp ?? null,
    event_type: eventType,
    project: notice.project,
    event: eventType,
    app: notice.project,
    instance: notice.instance,
    version: notice.version,
    deploy_id: isOfDeploy(eventType) ? deployId : null,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== '')),
    ...(rolledBack !== undefined && { rolled_back: rolledBack }),
    ...(notice.blocked && { blocked: true }),
    ...(notice.muted && { muted: true }),
    ...(notice.changes && { changes: notice.changes }),
    text,
  };
}

/** With as much of the log as the body has room for. */
function withLog(event: Fields, log: string): Fields {
  const fits = (whole: Fields) => Buffer.byteLength(JSON.stringify(whole)) < BODY_MAX - ID_BYTES;
  for (let points = codePoints(log); points > LOG_MIN; points = Math.floor(points * 0.9)) {
    const whole = { ...event, log: headAndTail(log, points) };
    if (fits(whole)) return whole;
  }
  return event;
}

const writing = textWriting({
  ...PLAIN,
  channel: 'webhook',
  titled: false,
  max: BODY_MAX / 4,
  fits: (text) => Buffer.byteLength(JSON.stringify(text)) <= BODY_MAX * 0.4,
  payload: ({ text, notice, share }) => {
    const event = eventOf(notice, text);
    return withId(share === 1 ? withLog(event, notice.log ?? '') : event);
  },
});

/** The headers of a request; the signature is over the id, the time and the body as sent. */
export function signedHeaders(key: string, id: string, seconds: number, body: string) {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', bytes).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

/**
 * 2xx is success, 410 ends the deliveries, everything else is tried again, as the specification says:
 * after 413 with less of the event. An answer may have any body of any size.
 */
function judge(call: Call, answer: HttpAnswer): SendOutcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return { class: 'delivered', rest: 0 };
  const refusedAs = (meaning: number, hint: string) =>
    refusedAnswer(call, answer, {
      status: meaning,
      code: status,
      description: `the receiver answers with HTTP status ${status}`,
      hint,
    });
  if (status === 410) return refusedAs(404, 'the receiver has unsubscribed');
  if (status < 400) return refusedAs(503, REDIRECT_HINT);
  const isKnown = status === 413 || status === 429;
  return refusedAs(isKnown ? status : 503, 'check the address, and what the receiver logs');
}

/** Posts to one address. */
function connectWebhook({ url, secret }: Settings, line: RequestLine): Channel {
  const send: Channel['send'] = ({ payload: body }, timeout) => {
    const seconds = Math.floor(Date.now() / 1000);
    const headers = (text: string) =>
      signedHeaders(secret.reveal(), wordOf(body.id), seconds, text);
    const call = { ...line, method: METHOD };
    const request = { method: 'POST', body, headers, timeout, cutsBody: true } as const;
    return exchange(call, url.reveal(), request, judge);
  };
  return {
    rates: RATES,
    send,
    // Only an event would show whether the receiver takes one.
    inspect: async () => ({ healthy: null, facts: {}, advice: [] }),
    sendTest: () => {
      const test = { type: 'Test', timestamp: new Date().toISOString() };
      return send(onlyForm(withId({ ...test, text: `🔔 ${TEST_TITLE}\n${TEST_TEXT}` })));
    },
  };
}

export const webhook = sectionService('webhook', {
  title: 'Webhook',
  secret: 'address',
  method: METHOD,
  mask: maskedAddress,
  placeOf: () => 'the receiver',
  // The event of a failure has the whole log: it is one message.
  writing,
  messages: (...given) => messagesOf(writing, ...given).slice(0, 1),
  connect: ({ webhook: hook }, line) => hook && connectWebhook(hook, line),
  placeholders: {
    'webhook.url': 'https://example.org',
    'webhook.secret': `whsec_${Buffer.alloc(24).toString('base64')}`,
  },
});
