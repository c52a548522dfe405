/** What the short and the long tests of preview command share. */
import { type RunOptions, run } from '@runner/testing/run';
import { chats } from './chats.ts';

export const preview = (args: readonly string[] = [], options: RunOptions = {}) =>
  run('runner-notify', ['preview', ...args], { root: chats.root, ...options });

export const records = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
