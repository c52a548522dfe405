/** What the short and the long tests of pipe share. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { startTelegram, type Telegram } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';

import { suite } from 'uvu';

export const BOT_TOKEN = '123456789:AAE-bOwk6ad9r_QXMENQjcrGbqCr4Kbotte';

export const CHAT_ID = -1001234567890;

export let root: string;

export let bot: Telegram;

export let hook: Discord;

export const delivered = (events: readonly string[]) =>
  events
    .flatMap((event) =>
      ['telegram', 'discord '].map((channel) => `delivered  ${channel}  ${event}, 1 message\n`),
    )
    .join('');

export function pipeSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    root = temporaryFolder('pipe');
    const chats = [{ id: CHAT_ID, type: 'supergroup', title: 'Deploys' }] as const;
    [bot, hook] = await Promise.all([startTelegram({ token: BOT_TOKEN, chats }), startDiscord()]);
    writeFileSync(
      join(root, 'config.yml'),
      `notify:
  telegram_bot_token: "${BOT_TOKEN}"
  telegram_chat_id: ${CHAT_ID}
  telegram_api_url: ${bot.url}
  discord_webhook: ${hook.webhook}
`,
      { mode: 0o600 },
    );
  });
  test.after.each(async () => {
    await Promise.all([bot.close(), hook.close()]);
  });
  return test;
}
