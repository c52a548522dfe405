/** What the short and the long tests of send share. */

import { suite } from 'uvu';
import { type Chats, startChats } from './chats.ts';

export let chats: Chats;

export function sendSuite(name = '') {
  const test = suite(name);
  test.before.each(async () => {
    chats = await startChats();
  });
  test.after.each(() => chats.close());
  return test;
}
