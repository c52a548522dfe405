/** Sets up the bot chat service: token, chat, rights, test message. */
import { type Prepared, type Situation, tryOut } from '../../dialogue/situation.ts';
import { type ChosenChat, chooseChat } from './chat.ts';
import { type KnownBot, knownBot } from './token.ts';

/** Saves nothing. */
export async function setUpTelegram(situation: Situation): Promise<Prepared> {
  situation.dialogue?.title('Telegram');
  const known = await knownBot(situation);
  for (;;) {
    const chosen = await chooseChat(situation, known);
    if (!situation.test) return prepared(known, chosen, false);
    const other =
      situation.inputs.chatId === undefined ? 'Choose another chat' : 'Check the chat again';
    const { values } = prepared(known, chosen, false);
    const outcome = await tryOut(situation, 'telegram', values, other);
    if (outcome === 'save') return prepared(known, chosen, false);
    if (typeof outcome === 'object') return prepared(known, chosen, true, outcome.movedTo);
  }
}

function prepared(
  { token, me }: KnownBot,
  { chat, threadId }: ChosenChat,
  tested: boolean,
  movedTo?: string,
): Prepared {
  const id = movedTo ?? chat.id;
  return {
    values: {
      telegram_bot_token: token.reveal(),
      telegram_chat_id: id,
      telegram_thread_id: threadId,
    },
    facts: {
      bot: { id: me.id, username: me.username },
      chat: { id, type: chat.type, title: chat.title },
      ...(threadId !== undefined && { thread_id: threadId }),
    },
    tested,
  };
}
