/** Sets up the bot chat service: token, chat, rights, test message. */
import { type Prepared, type Situation, tested } from '../../dialogue/situation.ts';
import { chooseChat } from './chat.ts';
import { knownBot } from './token.ts';

/** Saves nothing. */
export async function setUpTelegram(situation: Situation): Promise<Prepared> {
  situation.dialogue?.title('Telegram');
  const known = await knownBot(situation);
  const { id, username } = known.me;
  const given = situation.inputs.answers['chat-id'] !== undefined;
  return tested(situation, 'telegram', 'chat', given, async () => {
    const { chat, threadId } = await chooseChat(situation, known);
    return (movedTo = chat.id) => ({
      values: {
        telegram_bot_token: known.token.reveal(),
        telegram_chat_id: movedTo,
        telegram_thread_id: threadId,
      },
      facts: {
        bot: { id, username },
        chat: { id: movedTo, type: chat.type, title: chat.title },
        ...(threadId !== undefined && { thread_id: threadId }),
      },
    });
  });
}
