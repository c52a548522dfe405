/** The chat for the messages: detected or entered, and whether the bot may post there. */

import { Failure } from '@runner/common/foundation/failure';
import type { Dialogue } from '../../dialogue/dialogue.ts';
import { refusalOf, refusalText } from '../../dialogue/refusal.ts';
import { ATTEMPTS, type Situation, withRetries } from '../../dialogue/situation.ts';
import { CHAT_ID, THREAD_ID } from '../options.ts';
import { type ChatFacts, type KnownBot, rightsOf } from './bot.ts';
import { chatTitle, detectChat, type Topic } from './detect-chat.ts';

/** A chat that the bot may post in, or that the person insists on. Throws the refusal of a chat where there is no terminal to ask for another one. */
export async function chooseChat(situation: Situation, known: KnownBot) {
  const { dialogue, inputs, io } = situation;
  const { 'chat-id': chatId, 'thread-id': givenThread } = inputs.answers;
  for (;;) {
    const seen =
      dialogue && chatId === undefined
        ? await detectChat(dialogue, known.bot, known.me, io.elapsed)
        : undefined;
    const id = seen?.id ?? chatId;
    const found = await chatFacts(situation, known, id);
    const chat = found.type === '' && seen ? { ...seen, id: found.id } : found;
    if ((await checkRights(situation, known, chat)) === 'other') continue;
    const topics = seen?.topics ?? [];
    const threadId =
      givenThread === undefined
        ? dialogue && chat.isForum
          ? await chooseTopic(dialogue, topics)
          : undefined
        : Number(givenThread);
    return { chat, threadId };
  }
}

/** What Telegram knows about a chat; without an id, or with a wrong one, the person is asked. */
async function chatFacts(
  situation: Situation,
  { bot }: KnownBot,
  given: string | undefined,
): Promise<ChatFacts> {
  const { dialogue, inputs } = situation;
  let id = given;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const wanted: string = id ?? (dialogue ? await askChatId(dialogue) : '');
    const reply = await withRetries(situation, 'telegram', () => bot.chat(wanted));
    if (!('problem' in reply)) {
      dialogue?.done(`The chat is ${chatTitle(reply.value)}`);
      return reply.value;
    }
    if (!dialogue || inputs.answers['chat-id'] !== undefined)
      throw refusalOf('telegram', reply.problem);
    dialogue.warn(refusalText('telegram', reply.problem));
    id = undefined;
  }
  throw new Failure(
    'delivery_failed',
    `no chat found in ${ATTEMPTS} attempts, nothing was changed`,
  );
}

async function askChatId(dialogue: Dialogue): Promise<string> {
  for (;;) {
    const answer = await dialogue.ask('Chat id (negative for groups and channels), or @name');
    if (CHAT_ID.test(answer)) return answer;
    dialogue.warn(
      'that is not a chat id: a whole number such as -1001234567890, or @name of 4 or more characters',
    );
  }
}

/** Checks what the bot may do, and prints advice. */
async function checkRights(
  situation: Situation,
  { bot, me }: KnownBot,
  chat: ChatFacts,
): Promise<'ready' | 'other'> {
  const { dialogue, note } = situation;
  if (chat.type === 'private') return 'ready';
  for (;;) {
    const reply = await withRetries(situation, 'telegram', () => bot.member(chat.id, me.id));
    if ('problem' in reply && !dialogue) throw refusalOf('telegram', reply.problem);
    const rights = 'problem' in reply ? undefined : rightsOf(chat, reply.value);
    const advice = 'problem' in reply ? [refusalText('telegram', reply.problem)] : rights?.advice;
    for (const text of advice ?? []) (dialogue ? dialogue.warn : note)(text);
    if (rights?.canPost) return 'ready';
    if (!dialogue) {
      throw new Failure('delivery_failed', `telegram: the bot cannot post in ${chatTitle(chat)}`, {
        channel: 'telegram',
        hint: advice?.[0],
      });
    }
    const answer = await dialogue.choose('The bot cannot post there yet. What now?', [
      'Check again',
      ...(situation.inputs.answers['chat-id'] === undefined ? ['Choose another chat'] : []),
      'Continue anyway',
    ]);
    if (answer === 0) continue;
    return answer === 1 && situation.inputs.answers['chat-id'] === undefined ? 'other' : 'ready';
  }
}

/** Undefined: the general topic. */
async function chooseTopic(
  dialogue: Dialogue,
  topics: readonly Topic[],
): Promise<number | undefined> {
  const titles = topics.map(({ id, name }) => (name ? `${name} (topic ${id})` : `topic ${id}`));
  const choices = ['General', ...titles, 'Enter the number of a topic'];
  const number = await dialogue.choose('The group has topics. Which one?', choices);
  if (number === 0) return undefined;
  const topic = topics[number - 1];
  if (topic) return topic.id;
  for (;;) {
    const answer = await dialogue.ask('Number of the topic (in its link, after the chat)');
    if (THREAD_ID.test(answer)) return Number(answer);
    dialogue.warn('that is not a whole number above 0');
  }
}
