/** One Discord webhook, with the platform's rules and words. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { webhookRates } from './discord-rates.ts';
import { problem, refusals } from './discord-refusals.ts';
import { checkMessage, isEmptyMessage } from './discord-rules.ts';
import { type FaultResponse, sendAnswer } from './faults.ts';
import { type Loopback, readBody, sendJson, startLoopback } from './loopback.ts';

/** A message as the webhook took it. */
export interface DiscordMessage {
  readonly id: string;
  readonly content: string;
  readonly embeds: readonly Readonly<Record<string, unknown>>[];
  /** The body as it was sent. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The sender asked for `wait=true` and got the message back. */
  readonly waited: boolean;
  /** The query's `thread_id`. */
  readonly thread_id: string | null;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** How the stand-in behaves. */
export interface DiscordOptions {
  /** Name of the webhook. Default `Deploys`. */
  readonly name?: string;
  /**
   * Enforces the rates, with a clock that runs that many times as fast: 1 as on the platform, 10 to
   * wait a tenth. Default: no rates.
   */
  readonly rates?: number;
  /** Milliseconds of the clock that rates are measured with. Default `performance.now()`. */
  readonly now?: () => number;
}

/** Routes for faults are `POST` and `GET`. */
export interface Discord extends Loopback {
  /** The secret address: what `discord_webhook` is set to. */
  readonly webhook: string;
  /** The part of the address that is the secret. */
  readonly token: string;
  /** What was accepted, in order of arrival. */
  readonly messages: DiscordMessage[];
  /** Ids of the messages that were edited, one for each time. */
  readonly edits: string[];
  /** From now on the webhook is unknown. */
  remove(): void;
  /** Other webhooks of the channel send this number of messages now. */
  occupyChannel(count: number): void;
}

function parseBody(
  request: IncomingMessage,
  body: Buffer | null,
): { json: unknown } | FaultResponse {
  if (body === null) return problem(413, 40005, 'Request entity too large');
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) {
    const words = 'Expected "Content-Type" header to be one of {\'application/json\'}.';
    return { status: 400, body: { _misc: [words] } };
  }
  try {
    return { json: JSON.parse(body.toString('utf8')) };
  } catch {
    return problem(400, 50109, 'The request body contains invalid JSON.');
  }
}

/** Ids of Discord are numbers beyond 2^53, as text. */
const snowflake = () => String((BigInt(Date.now() - 1_420_070_400_000) << 22n) + BigInt(counter++));
let counter = 0;

/** Starts a platform with one webhook. */
export async function startDiscord(options: DiscordOptions = {}): Promise<Discord> {
  const id = snowflake();
  const channel_id = snowflake();
  const token = randomBytes(51).toString('base64url');
  const name = options.name ?? 'Deploys';
  const messages: DiscordMessage[] = [];
  const edits: string[] = [];
  const rates = webhookRates(options.rates, options.now ?? (() => performance.now()));
  let exists = true;

  const webhookObject = (url: string) => ({
    application_id: null,
    avatar: null,
    channel_id,
    guild_id: channel_id,
    id,
    name,
    type: 1,
    token,
    url,
  });

  const execute = async (
    request: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ) => {
    const { seconds, scope } = rates.take();
    for (const [header, value] of Object.entries(rates.headers())) {
      response.setHeader(header, value);
    }
    const body = await readBody(request);
    if (seconds > 0) return sendAnswer(response, refusals.rateLimited(seconds, scope));
    const parsed = parseBody(request, body);
    if (!('json' in parsed)) return sendAnswer(response, parsed);
    const errors = checkMessage(parsed.json);
    if (errors !== null) {
      return sendJson(response, 400, { message: 'Invalid Form Body', code: 50035, errors });
    }
    const payload = parsed.json as Readonly<Record<string, unknown>>;
    if (isEmptyMessage(payload)) return sendAnswer(response, refusals.empty);

    const waited = query.get('wait') === 'true';
    const message: DiscordMessage = {
      id: snowflake(),
      content: String(payload.content ?? '').trim(),
      embeds: (payload.embeds ?? []) as DiscordMessage['embeds'],
      payload,
      waited,
      thread_id: query.get('thread_id'),
      at: performance.now(),
    };
    messages.push(message);
    if (!waited) {
      response.writeHead(204);
      response.end();
      return;
    }
    sendJson(response, 200, {
      type: 0,
      id: message.id,
      channel_id,
      webhook_id: id,
      author: { id, username: payload.username ?? name, avatar: null, bot: true },
      content: message.content,
      embeds: message.embeds.map((embed) => ({ type: 'rich', ...embed })),
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      attachments: [],
      mentions: [],
      mention_roles: [],
      mention_everyone: false,
      components: [],
      flags: payload.flags ?? 0,
      pinned: false,
      tts: payload.tts ?? false,
    });
  };

  const edit = async (request: IncomingMessage, response: ServerResponse, message: string) => {
    const { seconds, scope } = rates.take();
    const body = await readBody(request);
    if (seconds > 0) return sendAnswer(response, refusals.rateLimited(seconds, scope));
    if (request.method !== 'PATCH')
      return sendAnswer(response, problem(405, 0, '405: Method Not Allowed'));
    const at = messages.findIndex((each) => each.id === message);
    const before = messages[at];
    if (!before) return sendAnswer(response, refusals.unknownMessage);
    const parsed = parseBody(request, body);
    if (!('json' in parsed)) return sendAnswer(response, parsed);
    const errors = checkMessage(parsed.json);
    if (errors !== null)
      return sendJson(response, 400, { message: 'Invalid Form Body', code: 50035, errors });
    const payload = parsed.json as Readonly<Record<string, unknown>>;
    const embeds = (payload.embeds ?? before.embeds) as DiscordMessage['embeds'];
    messages[at] = { ...before, payload, content: String(payload.content ?? '').trim(), embeds };
    edits.push(message);
    sendJson(response, 200, { id: message, channel_id, content: payload.content, embeds });
  };

  const server = await startLoopback({
    route: (request) => request.method ?? '',
    answer(request, response) {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
      const match = /^\/api(?:\/v\d+)?\/webhooks\/(\d+)\/([\w-]+)(?:\/messages\/(\d+))?$/.exec(
        pathname,
      );
      if (match === null) return sendAnswer(response, problem(404, 0, '404: Not Found'));
      if (match[1] !== id || !exists) return sendAnswer(response, refusals.unknownWebhook);
      if (match[2] !== token) return sendAnswer(response, refusals.invalidToken);
      if (match[3] !== undefined) return edit(request, response, match[3]);
      if (request.method === 'POST') return execute(request, response, searchParams);
      if (request.method === 'GET') {
        return sendJson(response, 200, webhookObject(`http://${request.headers.host}${pathname}`));
      }
      sendAnswer(response, problem(405, 0, '405: Method Not Allowed'));
    },
  });

  return {
    ...server,
    webhook: `${server.url}/api/webhooks/${id}/${token}`,
    token,
    messages,
    edits,
    remove: () => {
      exists = false;
    },
    occupyChannel: rates.occupy,
  };
}
