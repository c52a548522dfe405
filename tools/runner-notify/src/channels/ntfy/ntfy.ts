/** A topic on ntfy.sh or on your own server. */
import type { SectionSettings } from '@runner/common/config/channels';
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import { type Announcement, FACES, TEST_TEXT, TEST_TITLE } from '../../message/announcement.ts';
import type { NoticeKind } from '../../message/notice.ts';
import type {
  Channel,
  Inspection,
  Rate,
  RequestLine,
  SendOutcome,
} from '../../service/contract.ts';
import { ask, type Call, exchange, foreignAnswer, refusedAnswer } from '../../service/exchange.ts';
import { wordOf } from '../../service/fields.ts';
import { inspectionOf, maskedAddress, onlyForm, sectionService } from '../../service/section.ts';
import { cutBytes, PLAIN, phraseText, textWriting } from '../../service/text.ts';

type Settings = SectionSettings['ntfy'];

/** docs.ntfy.sh/publish/#limitations: 60 requests at once, then one in 5 seconds; 250 messages a day on ntfy.sh. */
const RATES: readonly Rate[] = [
  { count: 30, per: 60_000 },
  { count: 5, per: 1_000 },
];
/** Bytes of a message, from the same page: 4096, beyond which it becomes an attached file. */
const TEXT_MAX = 4_000;
/** Bytes of a message as JSON: server/server.go, transformBodyJSON reads 8192 of the whole body. */
const JSON_MAX = 7_000;
const TITLE_MAX = 250;
const METHOD = 'POST message';

/** docs.ntfy.sh/publish/#message-priority: 4 makes a sound where 3 may not, 2 makes none. */
function priorityOf(kind: NoticeKind): number {
  if (kind === 'started') return 2;
  return FACES[kind].tone === 'bad' ? 4 : 3;
}

const titleOf = ({ icon, title, headline }: Announcement) =>
  cutBytes(`${icon} ${title}: ${phraseText(headline)}`, TITLE_MAX);

const writing = textWriting({
  ...PLAIN,
  channel: 'ntfy',
  titled: true,
  max: TEXT_MAX,
  fits: (text) =>
    Buffer.byteLength(text) <= TEXT_MAX && Buffer.byteLength(JSON.stringify(text)) <= JSON_MAX,
  payload: ({ text, about, notice }) => ({
    title: titleOf(about),
    message: cutBytes(text, TEXT_MAX),
    priority: priorityOf(notice.kind),
  }),
});

const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'check the access token: it is not valid',
  403: 'check that the access token may write to the topic, or set one',
  404: 'check the address: https://SERVER/TOPIC',
};

/** Seconds to wait when the messages of a day are used up: server/errors.go, 42908. */
const DAY_PAUSE = 900;
/** Seconds in which a used-up allowance grows by one request. */
const REQUEST_PAUSE = 5;

/** Sorts an answer: JSON with the message's id, or `{code, http, error}` (server/errors.go). */
function judge(call: Call, answer: HttpAnswer): SendOutcome {
  const { status } = answer;
  const body = jsonObject(answer.body);
  const taken = body !== undefined && (body.id !== undefined || body.healthy === true);
  if (status < 300 && (taken || body?.username !== undefined))
    return { class: 'delivered', rest: 0 };
  if (!body || status < 300) return foreignAnswer(call, answer);
  const code = typeof body.code === 'number' ? body.code : status;
  return refusedAnswer(call, answer, {
    status,
    code,
    description: wordOf(body.error),
    pause: answer.headers['retry-after'] ?? (code === 42908 ? DAY_PAUSE : REQUEST_PAUSE),
    hint: BY_STATUS[status],
    // 40014: the text is too long for a message, and files are not allowed.
    complaint: code === 40014 ? 'length' : undefined,
  });
}

/** Publishes as JSON, so that no header has to carry text: docs.ntfy.sh/publish/#publish-as-json. */
function connectNtfy({ url, token: secret }: Settings, line: RequestLine): Channel {
  // `https://SERVER/TOPIC`.
  const address = url.reveal();
  const server = address.slice(0, address.lastIndexOf('/'));
  const topic = address.slice(server.length + 1);
  const token = secret?.reveal();
  const headers = () => ({ ...(token !== undefined && { authorization: `Bearer ${token}` }) });
  const send: Channel['send'] = ({ payload }, timeout) =>
    exchange(
      { ...line, method: METHOD },
      server,
      { method: 'POST', body: { topic, ...payload }, headers, timeout },
      judge,
    );
  const get = (path: string) =>
    ask({ ...line, method: `GET ${path}` }, `${server}${path}`, { method: 'GET', headers }, judge);
  return {
    rates: RATES,
    send,
    async inspect(): Promise<Inspection> {
      const health = inspectionOf(await get('/v1/health'));
      if (!health.healthy || token === undefined) return health;
      return inspectionOf(await get('/v1/account'));
    },
    sendTest: () => send(onlyForm({ title: `🔔 ${TEST_TITLE}`, message: TEST_TEXT })),
  };
}

export const ntfy = sectionService('ntfy', {
  title: 'ntfy',
  secret: 'topic',
  method: METHOD,
  mask: maskedAddress,
  // Anyone who knows the topic may read it.
  addressOf: ({ ntfy: topic }) => (topic ? { topic: '…' } : {}),
  reportOf: ({ id }) => ({ message_id: wordOf(id) }),
  placeOf: () => 'the topic',
  writing,
  connect: ({ ntfy: topic }, line) => topic && connectNtfy(topic, line),
  placeholders: { 'ntfy.url': 'https://ntfy.sh/x', 'ntfy.token': undefined },
});
