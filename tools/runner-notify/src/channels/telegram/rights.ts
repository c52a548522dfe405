/** Whether a bot can post in a chat, and what to change when it cannot. */
import type { ChatFacts, Me, Member } from './bot.ts';

/** Whether the bot can post, and what to change. */
export interface Rights {
  /** What the bot is in the chat, in the service's word. */
  readonly status: string;
  readonly canPost: boolean;
  readonly advice: readonly string[];
}

const GROUPS = ['group', 'supergroup'];
const RULERS = ['administrator', 'creator'];
const GONE = ['left', 'kicked'];

/** What to do when a bot does not read its groups. */
export const PRIVACY_ADVICE =
  'group privacy is on: switch it off in @BotFather (/setprivacy, Disable), then remove the bot from the group and add it again';

const CHANNEL_ADVICE =
  'make the bot an administrator of the channel, with the permission to post messages';

/** Judges by what getMe, getChat and getChatMember say. */
export function rightsOf(me: Me, chat: ChatFacts, { status, mayPost }: Member): Rights {
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
    advice: [
      ...(canPost ? [] : ['the bot may not write in the group: allow it to send messages']),
      // An administrator reads everything, privacy mode or not.
      ...(me.readsAll || ruler ? [] : [PRIVACY_ADVICE]),
    ],
  };
}
