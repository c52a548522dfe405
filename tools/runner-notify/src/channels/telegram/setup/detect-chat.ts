/** Finds the chat by a message that the person sends to the bot. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dialogue } from '../../../setup/dialogue.ts';
import { refusalOf, refusalText } from '../../../setup/refusal.ts';
import type { Bot, Me } from '../bot.ts';
import { PRIVACY_ADVICE } from '../rights.ts';
import { chatTitle, type SeenChat, seenChats } from './seen-chats.ts';

/** How long a message is waited for, in milliseconds. */
const PATIENCE = 120_000;
/** Telegram punishes a second look with the same offset within this time, in milliseconds. */
const PAUSE = 3_000;
/** As many updates as Telegram gives at once; those behind them are not seen without confirming. */
const UPDATES_MAX = 100;
/** More would not stand on the screen of a small terminal. */
const SHOWN_MAX = 12;

/** Undefined: the chat id is to be entered by hand, and the person knows why. */
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

/** A webhook takes all updates away; it belongs to another program and is left alone. */
async function hasWebhook(dialogue: Dialogue, bot: Bot): Promise<boolean> {
  const reply = await dialogue.during(() => bot.webhookHost());
  if ('problem' in reply || reply.value === '') return false;
  dialogue.warn(`Another program uses this bot: its webhook at ${reply.value} gets all updates`);
  dialogue.say(
    'Telegram shows no chats then (409 Conflict). The webhook is left as it is, and messages can be sent beside it. Enter the chat id by hand, or stop here with Ctrl-C and use a bot of its own.',
  );
  return true;
}

function invite(dialogue: Dialogue, { username, readsAll }: Me): void {
  dialogue.say(
    `Now send a message to @${username} in the chat that is to hear of deploys: directly, or in a group or channel that the bot is in. Then wait 2 to 3 seconds.`,
  );
  if (!readsAll) {
    dialogue.say(
      `In a group send /start@${username}, because other messages do not reach the bot: ${PRIVACY_ADVICE}.`,
    );
  }
  dialogue.say('A channel shows only if the bot is an administrator of it.');
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
        dialogue.warn('Another program asks for the updates of this bot: chats cannot be detected');
        return undefined;
      }
      if (!reply.problem.retryable) throw refusalOf('telegram', reply.problem);
      dialogue.warn(refusalText('telegram', reply.problem));
      continue;
    }
    const chats = seenChats(reply.value);
    if (reply.value.length >= UPDATES_MAX)
      dialogue.warn('The bot has many old updates: a newer message may not show in this list');
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
    'Look again, after another message',
    'Enter a chat id',
  ]);
  return shown[number] ?? (number === shown.length ? 'again' : 'manual');
}
