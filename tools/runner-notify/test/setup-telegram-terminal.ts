/** What the short and the long tests of setup telegram terminal share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTelegram, type Telegram, type TelegramOptions } from '@runner/testing/telegram';
import { temporaryFolder } from '@runner/testing/temp';
import { type Session, startOnTerminal } from '@runner/testing/terminal';
import { suite } from 'uvu';
import { BOT_TOKEN } from './chats.ts';

export const GROUP = { id: -1001234567890, type: 'supergroup', title: 'Deploys' } as const;

export const OTHER = { id: -100777, type: 'supergroup', title: 'Talk' } as const;

export const NEWS = { id: -100888, type: 'channel', title: 'News' } as const;

export const ADA = { id: 4_200_000_001, type: 'private', title: 'Ada' } as const;

export let bot: Telegram;

export let root: string;

export async function startBot(options: Omit<TelegramOptions, 'token'> = {}): Promise<void> {
  bot = await startTelegram({ token: BOT_TOKEN, chats: [GROUP, OTHER, NEWS, ADA], ...options });
}

export function setup(args: readonly string[] = [], env: Record<string, string> = {}): Session {
  return startOnTerminal('runner-notify', ['setup', '--channel', 'telegram', ...args], {
    root,
    columns: 240,
    env: { RUNNER_TELEGRAM_API_URL: bot.url, ...env },
  });
}

/** A session that has accepted the token. */
export async function begun(...given: Parameters<typeof setup>): Promise<Session> {
  const session = setup(...given);
  await session.answer('Bot token', BOT_TOKEN);
  return session;
}

export const messageIn = (
  chat: { id: number; type: string; title: string },
  more: object = {},
) => ({
  message: {
    message_id: 1,
    date: 0,
    chat: {
      id: chat.id,
      type: chat.type,
      ...(chat.type === 'private' ? { first_name: chat.title } : { title: chat.title }),
      ...more,
    },
    text: '/start',
  },
});

/** Without the comment that names the schema. */
export const config = () =>
  readFileSync(join(root, 'config.yml'), 'utf8').replace(/^# yaml-language-server: .*\n\n/, '');

export function setupTelegramTerminalSuite(name = '') {
  const test = suite(name);
  test.before.each(() => {
    root = temporaryFolder('setup');
  });
  test.after.each(async () => {
    await bot.close();
  });
  return test;
}
