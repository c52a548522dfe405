/** `sendMessage` with the platform's rules. */
import {
  type Chat,
  chatObject,
  checkPosting,
  findChat,
  TelegramRefusal,
} from './telegram-chats.ts';
import type { Entity } from './telegram-entities.ts';
import { parseText } from './telegram-parse.ts';

/** Code points after parsing and trimming. */
const MAX_TEXT = 4096;
/** Bytes before parsing (telegram-bot-api, Client.cpp). */
const MAX_RAW_TEXT = 32_768;
/** Further entities are ignored. */
const MAX_ENTITIES = 100;

/** What may stand in the body and of which type (Bot API 10.1). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  chat_id: ['integer', 'string'],
  text: ['string'],
  parse_mode: ['string'],
  message_thread_id: ['integer'],
  link_preview_options: ['object'],
  disable_notification: ['boolean'],
  protect_content: ['boolean'],
  allow_paid_broadcast: ['boolean'],
  message_effect_id: ['string'],
  business_connection_id: ['string'],
  direct_messages_topic_id: ['integer'],
  entities: ['array'],
  reply_parameters: ['object'],
  reply_markup: ['object'],
  suggested_post_parameters: ['object'],
};

/** A message that passed all the rules. */
export interface ReadyMessage {
  readonly chat: Chat;
  /** As it arrives: parsed and trimmed. */
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly threadId: number | null;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return Number.isSafeInteger(value) ? 'integer' : typeof value;
}

/**
 * Stricter than the platform, which takes digits for numbers and passes over what it does not
 * know: a misspelt name must not pass a test.
 */
function checkFields(payload: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(payload)) {
    const types = FIELDS[name];
    if (types === undefined) throw new TelegramRefusal(400, `Bad Request: unknown field "${name}"`);
    if (!types.includes(typeOf(value))) {
      const expected = types.join(' or ');
      throw new TelegramRefusal(400, `Bad Request: field "${name}" must be of type ${expected}`);
    }
  }
  const options = payload.link_preview_options as { is_disabled?: unknown } | undefined;
  if (options?.is_disabled !== undefined && typeof options.is_disabled !== 'boolean') {
    throw new TelegramRefusal(400, 'Bad Request: field "is_disabled" must be of type boolean');
  }
}

function parse(payload: Readonly<Record<string, unknown>>) {
  const text = (payload.text ?? '') as string;
  const name = ((payload.parse_mode ?? '') as string).toLowerCase();
  if (!text.isWellFormed())
    throw new TelegramRefusal(400, 'Bad Request: strings must be encoded in UTF-8');
  if (text === '') throw new TelegramRefusal(400, 'Bad Request: message text is empty');
  if (Buffer.byteLength(text) > MAX_RAW_TEXT) {
    throw new TelegramRefusal(400, 'Bad Request: text is too long');
  }
  // Stricter than the platform, which also takes `HTML` and the old `Markdown`.
  if (name !== '' && name !== 'markdownv2') {
    throw new TelegramRefusal(400, 'Bad Request: unsupported parse_mode');
  }
  const parsed = parseText(text, name === '' ? undefined : 'MarkdownV2');
  if (!parsed.ok) throw new TelegramRefusal(400, parsed.description);
  if (parsed.codepoints > MAX_TEXT)
    throw new TelegramRefusal(400, 'Bad Request: message is too long');
  return parsed;
}

function threadOf(chat: Chat, payload: Readonly<Record<string, unknown>>): number | null {
  const thread = payload.message_thread_id;
  if (typeof thread !== 'number' || thread === 0) return null;
  if (chat.topics?.includes(thread) !== true) {
    throw new TelegramRefusal(400, 'Bad Request: message thread not found');
  }
  return thread;
}

/** Checks all the rules. Throws Refusal with the platform's words. */
export function checkMessage(
  chats: readonly Chat[],
  payload: Readonly<Record<string, unknown>>,
): ReadyMessage {
  checkFields(payload);
  const { text, entities } = parse(payload);
  const chat = findChat(chats, payload.chat_id);
  checkPosting(chat);
  return {
    chat,
    text,
    entities: entities.slice(0, MAX_ENTITIES),
    threadId: threadOf(chat, payload),
  };
}

/** Names and fields of entities in the Bot API. */
function entityObject({ type, offset, length, argument }: Entity): Record<string, unknown> {
  const place = { offset, length };
  if (type === 'PreCode') return { ...place, type: 'pre', language: argument };
  if (type === 'TextUrl') return { ...place, type: 'text_link', url: argument };
  if (type === 'CustomEmoji') return { ...place, type: 'custom_emoji', custom_emoji_id: argument };
  if (type === 'MentionName')
    return { ...place, type: 'text_mention', user: { id: Number(argument) } };
  if (type === 'ExpandableBlockQuote') return { ...place, type: 'expandable_blockquote' };
  return { ...place, type: type.toLowerCase() };
}

/** The Message object with which `sendMessage` is answered. */
export function messageObject(
  { chat, text, entities, threadId }: ReadyMessage,
  id: number,
  from: unknown,
): Record<string, unknown> {
  return {
    message_id: id,
    ...(chat.type === 'channel' ? { sender_chat: chatObject(chat) } : { from }),
    chat: chatObject(chat),
    date: Math.floor(Date.now() / 1000),
    ...(threadId !== null && { message_thread_id: threadId, is_topic_message: true }),
    text,
    ...(entities.length > 0 && { entities: entities.map(entityObject) }),
  };
}
