/** Detects the chat by a message that the person sends to the bot: core.telegram.org/bots/api#update. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialogue } from '../../dialogue/dialogue.ts';
import { refusalOf, refusalText } from '../../dialogue/refusal.ts';
import { type Fields, fieldsOf, wordOf } from '../../service/fields.ts';
import { type Bot, type ChatFacts, chatFactsOf, type Me } from './bot.ts';

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

/** How long to wait for a message, in milliseconds. */
const PATIENCE = 120_000;
/** Telegram throttles a second request with the same offset within this time, in milliseconds. */
const PAUSE = 3_000;
/** The most updates of one answer; later ones show only after these are confirmed. */
const UPDATES_MAX = 100;
/** More would not fit a small terminal. */
const SHOWN_MAX = 12;

/** Why other messages in a group do not reach the bot. */
const PRIVACY_NOTE =
  'group privacy is on, so other messages do not reach the bot (to change it: @BotFather, /setprivacy, Disable, then remove the bot from the group and add it again)';

/** Undefined: the person enters the chat id, and knows why. */
export async function detectChat(
  dialogue: Dialogue,
  bot: Bot,
  me: Me,
  elapsed: () => number,
): Promise<SeenChat | undefined> {
  if (await hasWebhook(dialogue, bot)) return undefined;
  invite(dialogue, me);
  for (;;) {
    const found = await waitForChats(dialogue, bot, me, elapsed);
    if (found === undefined) return undefined;
    const choice = await chooseSeen(dialogue, found);
    if (choice !== 'again') return choice === 'manual' ? undefined : choice;
    await dialogue.during((signal) => sleep(PAUSE, undefined, { signal }));
  }
}

/** A webhook receives all updates; it belongs to another program and is left alone. */
async function hasWebhook(dialogue: Dialogue, bot: Bot): Promise<boolean> {
  const reply = await dialogue.during(() => bot.webhookHost());
  if ('problem' in reply || reply.value === '') return false;
  dialogue.warn(`Another program uses this bot: its webhook at ${reply.value} gets all updates`);
  dialogue.say(
    'Telegram then shows no chats (409 Conflict). The webhook stays as it is; messages can still be sent. Enter the chat id, or press Ctrl-C and create a separate bot.',
  );
  return true;
}

function invite(dialogue: Dialogue, { username, readsAll }: Me): void {
  dialogue.say(
    `Now send a message to @${username} in the chat for deploy messages: directly, or in a group or channel that the bot is in. Then wait 2 to 3 seconds.`,
  );
  if (!readsAll) {
    dialogue.say(`In a group send /start@${username}: ${PRIVACY_NOTE}.`);
  }
  dialogue.say('A channel is listed only if the bot is one of its administrators.');
}

async function waitForChats(
  dialogue: Dialogue,
  bot: Bot,
  me: Me,
  elapsed: () => number,
): Promise<SeenChat[] | undefined> {
  const end = elapsed() + PATIENCE;
  const line = () => {
    const left = Math.max(0, Math.ceil((end - elapsed()) / 1000));
    return `… waiting for a message to @${me.username}, ${left} s (m: enter the chat id)`;
  };
  while (elapsed() < end) {
    const begun = elapsed();
    const reply = await dialogue.watch(line, 'm', async (signal) => {
      const updates = await bot.updates(signal);
      const nothing = 'problem' in updates || updates.value.length === 0;
      const rest = begun + PAUSE - elapsed();
      if (nothing && rest > 0) await sleep(rest, undefined, { signal });
      return updates;
    });
    if (reply === undefined) return undefined;
    if ('problem' in reply) {
      if (reply.problem.http_status === 409) {
        dialogue.warn('Another program polls this bot: chats cannot be detected');
        return undefined;
      }
      if (!reply.problem.retryable) throw refusalOf('telegram', reply.problem);
      dialogue.warn(refusalText('telegram', reply.problem));
      continue;
    }
    const chats = seenChats(reply.value);
    if (reply.value.length >= UPDATES_MAX)
      dialogue.warn('The bot has many old updates: newer messages may be missing from this list');
    if (chats.length > 0) return chats;
  }
  dialogue.warn('No message arrived within 2 minutes');
  return undefined;
}

async function chooseSeen(
  dialogue: Dialogue,
  chats: readonly SeenChat[],
): Promise<SeenChat | 'again' | 'manual'> {
  const [first] = chats;
  if (chats.length === 1 && first) {
    dialogue.done(`Found ${chatTitle(first)}`);
    if (await dialogue.confirm('Announce deploys there?')) return first;
  }
  const shown = chats.slice(0, SHOWN_MAX);
  const titles = shown.map((chat) => chatTitle(chat));
  const number = await dialogue.choose('Which chat?', [
    ...titles,
    'Look again after another message',
    'Enter a chat id',
  ]);
  return shown[number] ?? (number === shown.length ? 'again' : 'manual');
}
