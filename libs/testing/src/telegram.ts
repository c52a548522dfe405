/** A Bot API server for one bot, with the platform's rules and words. */
import type { IncomingMessage } from 'node:http';
import type { Fault } from './faults.ts';
import { type Loopback, readBody, sendJson, startLoopback } from './loopback.ts';
import {
  type Chat,
  chatObject,
  checkPresence,
  findChat,
  memberObject,
  TelegramRefusal,
} from './telegram-chats.ts';
import type { Entity } from './telegram-entities.ts';
import { checkMessage, messageObject } from './telegram-send.ts';
import { type Conflicts, updates } from './telegram-updates.ts';

/** A message as the chat got it. */
export interface BotMessage {
  readonly message_id: number;
  readonly chat_id: number;
  /** The topic in a forum. */
  readonly thread_id: number | null;
  /** As a reader sees it: parsed and trimmed. */
  readonly text: string;
  readonly entities: readonly Entity[];
  /** The body as it was sent. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** The bot, its chats, and how the stand-in behaves. */
export interface TelegramOptions {
  readonly token: string;
  readonly chats?: readonly Chat[];
  /** User name of the bot. Default `runner_bot`. */
  readonly username?: string;
  /** Privacy mode is off: the bot reads all messages of its groups. Default false. */
  readonly readsAll?: boolean;
}

/** Routes for faults are the names of the methods, such as `sendMessage`. */
export interface Telegram extends Loopback {
  /** What was accepted, in order of arrival. */
  readonly messages: BotMessage[];
  /** Every edit that changed a message. */
  readonly edits: { message_id: unknown; text: string }[];
  /** May be changed at any time; the chats themselves are replaced. */
  readonly chats: Chat[];
  /** What makes getUpdates answer 409; may be changed at any time. */
  readonly conflicts: Conflicts;
  /** Puts an update in the queue of getUpdates, such as `{ message: {…} }`. */
  push(update: Readonly<Record<string, unknown>>): void;
  /** From now on the token is refused with 401. */
  revoke(): void;
}

/** Refusals as the platform words them, to be given to fail(). */
export const refusals = {
  unauthorized: { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
  /** 429; `seconds` is a whole number on the platform. */
  tooManyRequests: (seconds: number): Fault => ({
    status: 429,
    body: {
      ok: false,
      error_code: 429,
      description: `Too Many Requests: retry after ${seconds}`,
      parameters: { retry_after: seconds },
    },
  }),
  internal: {
    status: 500,
    body: { ok: false, error_code: 500, description: 'Internal Server Error' },
  },
} as const;

const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message';

/** Parameters come as a JSON body or, for methods that need none, not at all. */
async function parametersOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readBody(request);
  if (body === null) throw new TelegramRefusal(413, 'Request Entity Too Large');
  const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
  if (!isJson || body.length === 0) return {};
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Record<string, unknown>;
    }
  } catch {
    // Reported below, as for JSON that is not an object.
  }
  throw new TelegramRefusal(400, "Bad Request: can't parse JSON object");
}

/** Starts a Bot API server; `url` is what `telegram_api_url` is set to. */
export async function startTelegram(options: TelegramOptions): Promise<Telegram> {
  const chats: Chat[] = [...(options.chats ?? [])];
  const conflicts: Conflicts = { webhook: '', otherPoller: false };
  const queue = updates(conflicts);
  const messages: BotMessage[] = [];
  const edits: { message_id: unknown; text: string }[] = [];
  const username = options.username ?? 'runner_bot';
  const user = {
    id: Number(options.token.split(':')[0]),
    is_bot: true,
    first_name: 'Runner',
    username,
  };
  let valid = true;

  const methods: Record<string, (p: Record<string, unknown>, gone: Promise<void>) => unknown> = {
    getme: () => ({
      ...user,
      can_join_groups: true,
      can_read_all_group_messages: options.readsAll ?? false,
      supports_inline_queries: false,
    }),
    getwebhookinfo: () => ({
      url: conflicts.webhook,
      has_custom_certificate: false,
      pending_update_count: queue.pending(),
    }),
    getupdates: (parameters, gone) => queue.get(parameters, gone),
    getchat({ chat_id }) {
      const chat = findChat(chats, chat_id);
      checkPresence(chat);
      return { ...chatObject(chat), accent_color_id: 0, max_reaction_count: 11 };
    },
    getchatmember({ chat_id, user_id }) {
      const chat = findChat(chats, chat_id);
      if (user_id !== user.id) throw new TelegramRefusal(400, 'Bad Request: user not found');
      if (chat.bot !== 'left' && chat.bot !== 'kicked') checkPresence(chat);
      return memberObject(chat, user);
    },
    sendmessage(payload) {
      const ready = checkMessage(chats, payload);
      const message_id = messages.length + 1;
      const { text, entities, threadId: thread_id } = ready;
      const at = performance.now();
      messages.push({ message_id, chat_id: ready.chat.id, thread_id, text, entities, payload, at });
      return messageObject(ready, message_id, user);
    },
    editmessagetext({ message_id, ...payload }) {
      const ready = checkMessage(chats, payload);
      const at = messages.findIndex((each) => each.message_id === message_id);
      const before = messages[at];
      if (!before) throw new TelegramRefusal(400, 'Bad Request: message to edit not found');
      const { text, entities } = ready;
      if (before.text === text) throw new TelegramRefusal(400, `Bad Request: ${NOT_MODIFIED}`);
      messages[at] = { ...before, text, entities, payload };
      edits.push({ message_id, text });
      return messageObject(ready, message_id as number, user);
    },
  };

  const pathOf = (request: IncomingMessage) =>
    /^\/bot([^/]+)\/(\w+)(?:\?.*)?$/.exec(request.url ?? '') ?? [];

  const server = await startLoopback({
    route: (request) => pathOf(request)[2] ?? 'other',
    async answer(request, response) {
      const gone = new Promise<void>((resolve) => response.on('close', resolve));
      try {
        const [, token, name = ''] = pathOf(request);
        if (token === undefined) throw new TelegramRefusal(404, 'Not Found');
        if (!valid || token !== options.token) throw new TelegramRefusal(401, 'Unauthorized');
        const method = methods[name.toLowerCase()];
        if (method === undefined) throw new TelegramRefusal(404, 'Not Found: method not found');
        const result = await method(await parametersOf(request), gone);
        sendJson(response, 200, { ok: true, result });
      } catch (error) {
        if (!(error instanceof TelegramRefusal)) throw error;
        const { code: error_code, message: description, parameters } = error;
        const body = { ok: false, error_code, description, ...(parameters && { parameters }) };
        sendJson(response, error_code, body);
      }
    },
  });

  return {
    ...server,
    messages,
    edits,
    chats,
    conflicts,
    push: queue.push,
    revoke: () => {
      valid = false;
    },
  };
}
