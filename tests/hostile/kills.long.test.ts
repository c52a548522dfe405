/** `kill -9` of every command that writes, at random moments: 100 times each, or once. */
import { IS_WHOLE } from '@runner/testing/extent';
import { type Storm, testStorm } from '@runner/testing/kill-storm';
import { test } from 'uvu';
import { deploying, fetching, rollingBack } from './deploy-kills.ts';
import { dropping, emitting, flushing, queueing, sending, settingUp } from './kills.ts';
import { adding, editing, removing } from './registry-kills.ts';
import { type Server, startServer } from './server.ts';

type Case = readonly [what: string, storm: (root: string, server: Server) => Storm];

const CASES: readonly Case[] = [
  ['audit emit: what was echoed is in the log', emitting],
  ['add: the app is there with its token, or it is not', adding],
  ['edit: the token is the old one or the new one', editing],
  ['remove: the app is there with its token, or it is not', removing],
  ['notify send: what it acknowledged arrives', sending],
  ['notify flush: what was queued arrives', flushing],
  ['notify queue retry: each message is whole and in one place', queueing],
  ['notify queue drop: a message is whole or gone', dropping],
  ['notify setup: config.yml is the old one or the new one', settingUp],
];

/** Commands that fetch and build: tests/deploys kills them at each commit, at every step. */
const DEPLOYS: readonly Case[] = [
  ['deploy: the next one ends what was begun', deploying],
  ['fetch --deploy: the next deploy ends what was begun', fetching],
  ['rollback: one of the two versions is active, whole', rollingBack],
];

const started = startServer();
for (const [what, of] of IS_WHOLE ? [...CASES, ...DEPLOYS] : CASES) {
  testStorm(test, what, IS_WHOLE ? 100 : 1, async () => {
    const server = await started;
    const root = server.copy();
    return { root, storm: of(root, server) };
  });
}
test.after(async () => (await started).close());
test.run();
