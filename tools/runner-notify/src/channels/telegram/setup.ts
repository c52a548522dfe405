/** Sets up the bot chat service: token, chat, rights, test message. */

import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import {
  ATTEMPTS,
  acceptedAnswer,
  type Prepared,
  type Situation,
  tested,
} from '../../dialogue/situation.ts';
import { type Bot, type KnownBot, openBot } from './bot.ts';
import { chooseChat } from './chat.ts';

const TOKEN = /^[1-9]\d{0,16}:[A-Za-z0-9_-]{20,}$/;

const NOT_A_TOKEN = 'that is not a bot token: digits, a colon, and at least 20 letters and digits';

/** Throws `token_invalid` after ATTEMPTS, or when the given token is refused. */
async function knownBot(situation: Situation): Promise<KnownBot> {
  const { value, answer: me } = await acceptedAnswer(situation, 'telegram', {
    given: situation.inputs.answers['token-file'],
    ask: (dialogue) => dialogue.askSecret('Bot token from @BotFather'),
    read: (text) =>
      TOKEN.test(text)
        ? { token: new Secret(text), bot: botOf(situation, new Secret(text)) }
        : new Failure('token_invalid', NOT_A_TOKEN),
    check: ({ bot }) => bot.me(),
    failure: new Failure(
      'token_invalid',
      `no valid bot token in ${ATTEMPTS} attempts, nothing was changed`,
    ),
  });
  situation.dialogue?.done(`The bot is @${me.username}`);
  return { ...value, me };
}

function botOf(situation: Situation, token: Secret): Bot {
  // The chat is not known yet; the address of the service does not depend on it.
  const values = { telegram_bot_token: token.reveal(), telegram_chat_id: '0' };
  const draft = situation.draft(values);
  return openBot(draft.settings.telegram?.apiUrl ?? '', token, draft.line());
}

/** Saves nothing. */
export async function setUpTelegram(situation: Situation): Promise<Prepared> {
  situation.dialogue?.title('Telegram');
  const known = await knownBot(situation);
  const { id, username } = known.me;
  const given = situation.inputs.answers['chat-id'] !== undefined;
  const choose = async () => {
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
  };
  return tested(situation, { channel: 'telegram', what: 'chat', given, choose });
}
