/** What the short and the long tests of preview command share. */
import { type RunOptions, run } from '@runner/testing/run';
import { suite } from 'uvu';
import { type Chats, startChats } from './chats.ts';

export let chats: Chats;

export const preview = (args: readonly string[] = [], options: RunOptions = {}) =>
  run('runner-notify', ['preview', ...args], { root: chats.root, ...options });

export const records = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

export function previewCommandSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    chats = await startChats();
  });
  test.after.each(() => chats.close());
  return test;
}
