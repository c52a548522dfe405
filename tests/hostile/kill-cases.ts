/** Which commands are killed: those that write. `tokens rekey` has tests of its own. */
import { test } from 'uvu';
import { deploying, fetching, rollingBack } from './deploy-kills.ts';
import { dropping, emitting, flushing, queueing, sending, settingUp } from './kills.ts';
import { adding, editing, removing } from './registry-kills.ts';
import { type Server, startServer } from './server.ts';
import { type Storm, storm } from './storm.ts';

export type Case = readonly [what: string, storm: (root: string, server: Server) => Storm];

/** What changes the audit log and the registry. */
export const RECORDS: readonly Case[] = [
  ['audit emit: what was echoed is in the log', emitting],
  ['add: the app is there with its token, or it is not', adding],
  ['edit: the token is the old one or the new one', editing],
  ['remove: the app is there with its token, or it is not', removing],
];

/** What changes messages and how they are sent. */
export const MESSAGES: readonly Case[] = [
  ['notify send: what it told of arrives', sending],
  ['notify flush: what was queued arrives', flushing],
  ['notify queue retry: each message is whole and in one place', queueing],
  ['notify queue drop: a message is whole or gone', dropping],
  ['notify setup: config.yml is the old one or the new one', settingUp],
];

/** Commands that fetch and build. */
export const DEPLOY: Case = ['deploy: the next one ends what was begun', deploying];
export const FETCH: Case = ['fetch --deploy: the next deploy ends what was begun', fetching];
export const ROLLBACK: Case = ['rollback: one of the two versions is active, whole', rollingBack];

/** Tests these commands, each killed `times` times on a root of its own. */
export function testKills(cases: readonly Case[], times: number): void {
  const started = startServer();
  for (const [what, of] of cases) {
    test(`killed ${times} times, ${what}`, async () => {
      const server = await started;
      const root = server.copy();
      const counts = await storm(root, times, of(root, server));
      process.stdout.write(`(${counts}: ${what})\n`);
    });
  }
  test.after(async () => (await started).close());
}
