/** Which commands are killed: those that write. `tokens rekey` has tests of its own. */
import { deploying, fetching, rollingBack } from './deploy-kills.ts';
import {
  dropping,
  emitting,
  flushing,
  queueing,
  registering,
  type Storm,
  sending,
  settingUp,
} from './kills.ts';
import type { Server } from './server.ts';

export type Case = readonly [what: string, storm: (root: string, server: Server) => Storm];

/** Commands that take milliseconds. */
export const QUICK: readonly Case[] = [
  ['audit emit: what was echoed is in the log', emitting],
  ['add, edit and remove: each app is there with its token, or it is not', registering],
  ['notify send: what it told of arrives', sending],
  ['notify flush: what was queued arrives', flushing],
  ['notify queue retry: each message is whole and in one place', queueing],
  ['notify queue drop: a message is whole or gone', dropping],
  ['notify setup: config.yml is the old one or the new one', settingUp],
];

/** Commands that fetch and build. */
export const SLOW: readonly Case[] = [
  ['deploy: the next one ends what was begun', deploying],
  ['fetch --deploy: the next deploy ends what was begun', fetching],
  ['rollback: one of the two versions is active, whole', rollingBack],
];
