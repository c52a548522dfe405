/**
 * `kill -9` of what writes the registry and the messages, at random moments: 100 times each, or once. Of deploys it is
 * in tests/model, of the audit log in tools/runner-audit, of remove in tools/runner-remove.
 */
import { IS_WHOLE } from '@runner/testing/extent';
import { type Storm, testStorm } from '@runner/testing/kill-storm';
import { test } from 'uvu';
import { dropping, flushing, queueing, sending, settingUp } from './kills.ts';
import { adding, editing } from './registry-kills.ts';
import { type Server, startServer } from './server.ts';

type Case = readonly [what: string, storm: (root: string, server: Server) => Storm];

const CASES: readonly Case[] = [
  ['add: the app is there with its token, or it is not', adding],
  ['edit: the token is the old one or the new one', editing],
  ['notify send: what it acknowledged arrives', sending],
  ['notify flush: what was queued arrives', flushing],
  ['notify queue retry: each message is whole and in one place', queueing],
  ['notify queue drop: a message is whole or gone', dropping],
  ['notify setup: config.yml is the old one or the new one', settingUp],
];

const started = startServer();
for (const [what, of] of CASES) {
  testStorm(test, what, IS_WHOLE ? 100 : 1, async () => {
    const server = await started;
    const root = server.copy();
    return { root, storm: of(root, server) };
  });
}
test.after(async () => (await started).close());
test.run();
