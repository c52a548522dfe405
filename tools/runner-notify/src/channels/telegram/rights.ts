/** Whether a bot can post in a chat, and what to change when it cannot. */
import type { ChatFacts, Member } from './bot.ts';

/** Whether the bot can post, and what to change. */
export interface Rights {
  /** The bot's status in the chat, as Telegram calls it. */
  readonly status: string;
  readonly canPost: boolean;
  readonly advice: readonly string[];
}

const GROUPS = ['group', 'supergroup'];
const RULERS = ['administrator', 'creator'];
const GONE = ['left', 'kicked'];

const CHANNEL_ADVICE =
  'make the bot an administrator of the channel, with the permission to post messages';

/** Judges by the answers of getChat and getChatMember. */
export function rightsOf(chat: ChatFacts, { status, mayPost }: Member): Rights {
  if (status === '') return { status, canPost: true, advice: [] };
  const ruler = RULERS.includes(status);
  if (chat.type === 'channel') {
    const canPost = ruler && mayPost !== false;
    return { status, canPost, advice: canPost ? [] : [CHANNEL_ADVICE] };
  }
  if (!GROUPS.includes(chat.type)) return { status, canPost: true, advice: [] };
  if (GONE.includes(status)) {
    const words =
      status === 'kicked' ? 'the bot was removed from the group' : 'the bot is not in the group';
    return { status, canPost: false, advice: [`${words}: add it again`] };
  }
  const canPost = ruler || (mayPost !== false && chat.membersMayPost);
  return {
    status,
    canPost,
    advice: canPost ? [] : ['the bot may not write in the group: allow it to send messages'],
  };
}
