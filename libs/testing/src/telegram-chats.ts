/** The chats that the Telegram stand-in knows, and what a bot may do in them. */

/** A chat, and the standing of the bot in it. */
export interface Chat {
  /** User > 0, group < 0, supergroup and channel -100…; more than 32 bits. */
  readonly id: number;
  readonly type: 'private' | 'group' | 'supergroup' | 'channel';
  readonly title?: string;
  /** Without the @. */
  readonly username?: string;
  /** Ids of the topics of a forum; with them, `is_forum` is true. */
  readonly topics?: readonly number[];
  /**
   * What the bot is there. Default `member`, in a channel `administrator`. `blocked`,
   * `deactivated` and `never-started` are of private chats.
   */
  readonly bot?:
    | 'administrator'
    | 'member'
    | 'restricted'
    | 'left'
    | 'kicked'
    | 'blocked'
    | 'deactivated'
    | 'never-started';
  /** Of an administrator of a channel: may post. Default true. */
  readonly canPost?: boolean;
  /** The group has become this supergroup. */
  readonly migratedTo?: number;
}

/** An answer `{ok: false, …}` of the Bot API. */
export class TelegramRefusal extends Error {
  readonly code: number;
  readonly parameters: Readonly<Record<string, number>> | undefined;

  constructor(code: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** The standing of the bot, where nothing is said the usual one. */
function botStatus(chat: Chat): NonNullable<Chat['bot']> {
  return chat.bot ?? (chat.type === 'channel' ? 'administrator' : 'member');
}

const PLACES = {
  private: 'private chat',
  group: 'group chat',
  supergroup: 'supergroup chat',
  channel: 'channel chat',
} as const;

/** Throws the error that a bot gets that is not in the chat. */
export function checkPresence(chat: Chat): void {
  if (chat.migratedTo !== undefined) {
    const migrated = { migrate_to_chat_id: chat.migratedTo };
    const words = 'Bad Request: group chat was upgraded to a supergroup chat';
    throw new TelegramRefusal(400, words, migrated);
  }
  const place = PLACES[chat.type];
  const words: Partial<Record<NonNullable<Chat['bot']>, string>> = {
    kicked: `bot was kicked from the ${place}`,
    left: `bot is not a member of the ${place}`,
    blocked: 'bot was blocked by the user',
    deactivated: 'user is deactivated',
    'never-started': "bot can't initiate conversation with a user",
  };
  const reason = words[botStatus(chat)];
  if (reason !== undefined) throw new TelegramRefusal(403, `Forbidden: ${reason}`);
}

/** Throws the error that a bot gets that is in the chat but may not post. */
export function checkPosting(chat: Chat): void {
  checkPresence(chat);
  const status = botStatus(chat);
  const mayPost = status === 'administrator' && chat.canPost !== false;
  if (chat.type === 'channel' && !mayPost) {
    throw new TelegramRefusal(400, 'Bad Request: need administrator rights in the channel chat');
  }
  if (status === 'restricted') {
    throw new TelegramRefusal(
      400,
      'Bad Request: not enough rights to send text messages to the chat',
    );
  }
}

/** Finds a chat by what stands in `chat_id`: a number, its digits as text, or @name. */
export function findChat(chats: readonly Chat[], id: unknown): Chat {
  if (id === undefined || id === '')
    throw new TelegramRefusal(400, 'Bad Request: chat_id is empty');
  const wanted = String(id);
  const found = chats.find(
    (chat) =>
      String(chat.id) === wanted ||
      (chat.username !== undefined && `@${chat.username}`.toLowerCase() === wanted.toLowerCase()),
  );
  if (found === undefined) throw new TelegramRefusal(400, 'Bad Request: chat not found');
  return found;
}

/** The Chat object of messages and updates. */
export function chatObject(chat: Chat): Record<string, unknown> {
  return {
    id: chat.id,
    ...(chat.type === 'private'
      ? { first_name: chat.title ?? 'Ada' }
      : { title: chat.title ?? 'Chat' }),
    ...(chat.username !== undefined && { username: chat.username }),
    type: chat.type,
    ...(chat.topics !== undefined && { is_forum: true }),
  };
}

/** The ChatMember object of the bot in a chat. */
export function memberObject(chat: Chat, user: unknown): Record<string, unknown> {
  const status = botStatus(chat);
  if (status === 'administrator') {
    const mayPost = chat.type === 'channel' && { can_post_messages: chat.canPost !== false };
    return {
      user,
      status,
      can_be_edited: false,
      is_anonymous: false,
      can_manage_chat: true,
      ...mayPost,
    };
  }
  if (status === 'restricted') {
    return { user, status, is_member: true, can_send_messages: false, until_date: 0 };
  }
  if (status === 'kicked') return { user, status, until_date: 0 };
  return { user, status: status === 'left' ? 'left' : 'member' };
}
