/** What the short and the long tests of flush share. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { chats, configOf } from './chats.ts';

export const flush = (...args: string[]) =>
  run('runner-notify', ['flush', ...args], { root: chats.root });

export const queued = () =>
  readdirSync(join(chats.root, 'spool/notify')).filter((name) => /-.*\.json$/.test(name)).length;

export const only = (which: string) => chats.configure(configOf(chats.bot, chats.hook, which));
