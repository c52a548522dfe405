/** What the short and the long tests of send messages share. */

import { suite } from 'uvu';
import { type Chats, startChats } from './chats.ts';

export let chats: Chats;

export const FAILURE = {
  previous_version: 'v1.2.9',
  error: 'health: answered 500\n[api] *boom* `x` \\',
};

export const ROLLBACK = {
  version: 'v1.2.9',
  from_version: 'v1.3.0',
  reason: 'health: answered 500',
};

export function sendMessagesSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    chats = await startChats();
  });
  test.after.each(() => chats.close());
  return test;
}
