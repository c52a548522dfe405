/** The chats that show in a bot's updates: core.telegram.org/bots/api#update. */
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { type ChatFacts, chatFactsOf } from './bot.ts';

/** A topic of a group, as a message in it shows it. */
export interface Topic {
  readonly id: number;
  /** Empty when no update names it. */
  readonly name: string;
}

/** A chat in which something was written. */
export interface SeenChat extends ChatFacts {
  readonly topics: readonly Topic[];
}

const MESSAGES = ['message', 'edited_message', 'channel_post', 'edited_channel_post'];
const OTHERS = ['my_chat_member', 'chat_join_request'];
const GONE = ['left', 'kicked'];

/** Each chat once, the latest first; without those that the bot has left. */
export function seenChats(updates: readonly Fields[]): SeenChat[] {
  const seen = new Map<string, SeenChat>();
  for (const update of updates) {
    for (const kind of [...MESSAGES, ...OTHERS]) {
      const event = fieldsOf(update[kind]);
      const facts = chatFactsOf(fieldsOf(event.chat));
      if (facts.id === '') continue;
      const topics = topicsOf(seen.get(facts.id)?.topics ?? [], event);
      // Deleted and added, so that the latest chat comes last.
      seen.delete(facts.id);
      const status = wordOf(fieldsOf(event.new_chat_member).status);
      const moved = event.migrate_to_chat_id !== undefined;
      if (!moved && !GONE.includes(status)) seen.set(facts.id, { ...facts, topics });
    }
  }
  return [...seen.values()].reverse();
}

function topicsOf(known: readonly Topic[], message: Fields): readonly Topic[] {
  const id = message.message_thread_id;
  if (message.is_topic_message !== true || typeof id !== 'number') return known;
  const begun = fieldsOf(message.forum_topic_created);
  const replied = fieldsOf(fieldsOf(message.reply_to_message).forum_topic_created);
  const before = known.find((topic) => topic.id === id)?.name ?? '';
  const name = wordOf(begun.name) || wordOf(replied.name) || before;
  return [...known.filter((topic) => topic.id !== id), { id, name }];
}

/** `Deploys (supergroup -100123)`. */
export function chatTitle({ title, type, id }: ChatFacts): string {
  return type === '' ? id : `${title || 'without a title'} (${type} ${id})`;
}
