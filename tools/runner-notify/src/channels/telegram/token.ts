/** The bot's token: asked for and checked with getMe. */
import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import {
  ATTEMPTS,
  acceptedSecret,
  type Situation,
  settingsWith,
} from '../../dialogue/situation.ts';
import { type Bot, type Me, openBot } from './bot.ts';

const TOKEN = /^[1-9]\d{0,16}:[A-Za-z0-9_-]{20,}$/;

const NOT_A_TOKEN = 'that is not a bot token: digits, a colon, and at least 20 letters and digits';

/** A token that Telegram accepted, and its bot. */
export interface KnownBot {
  readonly token: Secret;
  readonly bot: Bot;
  readonly me: Me;
}

/** Throws `token_invalid` after ATTEMPTS, or when the given token is refused. */
export async function knownBot(situation: Situation): Promise<KnownBot> {
  const { value, answer: me } = await acceptedSecret(situation, 'telegram', {
    given: situation.inputs.answers['token-file'],
    question: 'Bot token from @BotFather',
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
  const { telegram } = settingsWith(situation, values);
  const settings = { telegram, discord: undefined };
  return openBot(telegram?.apiUrl ?? '', token, situation.line(settings));
}
