/** Answers given on the command line, in files and in the environment. */
import { resolve } from 'node:path';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/settings';
import { readIfThere } from '@runner/common/files/read';
import { Failure, usage } from '@runner/common/foundation/failure';
import { type Io, readAll } from '@runner/common/foundation/io';
import { CHAT_ID } from '../channels/telegram/bot.ts';
import type { Inputs } from '../dialogue/situation.ts';

/** Far above any token or address: a larger file is the wrong one. */
const FILE_MAX = 65_536;

/** The options of `runner notify setup`. */
export interface SetupOptions {
  readonly channel: string | undefined;
  readonly 'token-file': string | undefined;
  readonly 'chat-id': string | undefined;
  readonly 'thread-id': string | undefined;
  readonly 'webhook-file': string | undefined;
}

const THREAD_ID = /^[1-9]\d{0,14}$/;

/** Reads them all. Throws `usage`, or `file_unreadable`. */
export function readInputs(io: Io, options: SetupOptions): Inputs {
  const { 'token-file': tokenFile, 'webhook-file': webhookFile } = options;
  const { 'chat-id': chatId, 'thread-id': threadId } = options;
  if (tokenFile === '-' && webhookFile === '-')
    throw usage(
      "'--token-file -' cannot be used with '--webhook-file -': there is one standard input",
    );
  if (chatId !== undefined && !CHAT_ID.test(chatId))
    throw usage(
      `invalid value '${chatId}' for '--chat-id <ID>': it is a whole number, negative for groups and channels, or @name`,
    );
  if (threadId !== undefined && !THREAD_ID.test(threadId))
    throw usage(`invalid value '${threadId}' for '--thread-id <N>': it is a whole number above 0`);
  const telegram = {
    '--token-file <FILE>': tokenFile,
    '--chat-id <ID>': chatId,
    '--thread-id <N>': threadId,
  };
  const discord = { '--webhook-file <FILE>': webhookFile };
  const named = CHANNEL_NAMES.filter(
    (name) => options.channel === 'both' || options.channel === name,
  );
  const stray =
    options.channel === 'discord' ? telegram : options.channel === 'telegram' ? discord : {};
  for (const [title, value] of Object.entries(stray)) {
    if (value !== undefined)
      throw usage(`the argument '${title}' cannot be used with '--channel ${options.channel}'`);
  }
  const token = given(io, tokenFile, 'RUNNER_TELEGRAM_TOKEN', 'the bot token');
  const webhook = given(io, webhookFile, 'RUNNER_DISCORD_WEBHOOK', 'the webhook address');
  const about = {
    telegram: token !== undefined || chatId !== undefined || threadId !== undefined,
    discord: webhook !== undefined,
  };
  const meant = CHANNEL_NAMES.filter((name) => about[name]);
  const channels = named.length > 0 ? named : meant.length > 0 ? meant : undefined;
  return {
    channels,
    token,
    chatId,
    threadId: threadId === undefined ? undefined : Number(threadId),
    webhook,
    stdinUsed: tokenFile === '-' || webhookFile === '-',
  };
}

function given(
  io: Io,
  file: string | undefined,
  variable: string,
  what: string,
): string | undefined {
  if (file === undefined) return io.env[variable]?.trim() || undefined;
  if (file === '-') return textOf(readAll(io.stdin, FILE_MAX, what), what);
  const path = resolve(io.cwd, file);
  const bytes = readIfThere(path, FILE_MAX);
  if (!bytes) throw new Failure('file_unreadable', `there is no file ${path}`);
  return textOf(bytes.toString('utf8'), what);
}

function textOf(text: string, what: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw usage(`${what} is empty`);
  return trimmed;
}

/** Throws `usage` naming what is missing; for when stdin is not a terminal. */
export function requireInputs(inputs: Inputs): asserts inputs is Inputs & {
  readonly channels: readonly ChannelName[];
} {
  const { channels, token, chatId, webhook } = inputs;
  const forTelegram = [
    ...(token === undefined ? ['--token-file <FILE> (or RUNNER_TELEGRAM_TOKEN)'] : []),
    ...(chatId === undefined ? ['--chat-id <ID>'] : []),
  ];
  const forDiscord =
    webhook === undefined ? ['--webhook-file <FILE> (or RUNNER_DISCORD_WEBHOOK)'] : [];
  const missing =
    channels === undefined
      ? ['--channel <CHANNEL>']
      : [
          ...(channels.includes('telegram') ? forTelegram : []),
          ...(channels.includes('discord') ? forDiscord : []),
        ];
  if (missing.length === 0) return;
  throw usage(
    `the following required arguments were not provided: ${missing.join(', ')}; stdin is not a terminal`,
  );
}
