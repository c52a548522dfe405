/** The bot's token: asked for and checked with getMe. */
import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import { isRefused, refusalOf, refusalText } from '../../dialogue/refusal.ts';
import { ATTEMPTS, type Situation, settingsWith, withRetries } from '../../dialogue/situation.ts';
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
  const { dialogue, inputs } = situation;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const given = inputs.token;
    const text = given ?? (await dialogue?.askSecret('Bot token from @BotFather')) ?? '';
    if (!TOKEN.test(text)) {
      if (given !== undefined) throw new Failure('token_invalid', NOT_A_TOKEN);
      dialogue?.warn(NOT_A_TOKEN);
      continue;
    }
    const token = new Secret(text);
    const bot = botOf(situation, token);
    const me = await withRetries(situation, 'telegram', () => bot.me());
    if (!('problem' in me)) {
      dialogue?.done(`The bot is @${me.value.username}`);
      return { token, bot, me: me.value };
    }
    if (given !== undefined || !isRefused(me.problem)) throw refusalOf('telegram', me.problem);
    dialogue?.warn(refusalText('telegram', me.problem));
  }
  throw new Failure(
    'token_invalid',
    `no valid bot token in ${ATTEMPTS} attempts, nothing was changed`,
  );
}

function botOf(situation: Situation, token: Secret): Bot {
  // The chat is not known yet; the address of the service does not depend on it.
  const values = { telegram_bot_token: token.reveal(), telegram_chat_id: '0' };
  const { telegram } = settingsWith(situation, values);
  const settings = { telegram, discord: undefined };
  return openBot(telegram?.apiUrl ?? '', token, situation.line(settings));
}
