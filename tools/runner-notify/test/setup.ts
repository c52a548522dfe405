/** What the short and the long tests of setup share. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, type Chats, startChats } from './chats.ts';

export let chats: Chats;

export let files: { token: string; webhook: string };

export function setup(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const env = { RUNNER_TELEGRAM_API_URL: chats.bot.url, ...options.env };
  return run('runner-notify', ['setup', ...args], { root: chats.root, ...options, env });
}

export const config = () => readFileSync(join(chats.root, 'config.yml'), 'utf8');

export const secretless = ({ stdout, stderr }: Ended) => {
  for (const secret of [BOT_TOKEN, chats.hook.token])
    assert.equal(findSecret(stdout + stderr, secret), []);
};

export function setupSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    chats = await startChats();
    chats.configure('');
    files = { token: join(chats.root, 'token'), webhook: join(chats.root, 'webhook') };
    writeFileSync(files.token, `${BOT_TOKEN}\n`);
    writeFileSync(files.webhook, `${chats.hook.webhook}/github\n`);
  });
  test.after.each(() => chats.close());
  return test;
}
