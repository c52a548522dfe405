/**
 * Messages that a stolen server signed, changed at random: each is read or is that server's problem; nothing throws, and
 * nothing that is printed controls a terminal. FLEET_MUTATIONS: how many, 500 by default.
 */

import { readRecord } from '@runner/common/audit/record';
import { PLAIN } from '@runner/common/cli/output';
import { jsonLine, UNSAFE } from '@runner/common/text/harmless';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Broker } from '../../libs/fleet/src/broker/broker.ts';
import { newSignKey, publicKeyOf, seal, type Use } from '../../libs/fleet/src/order/seal.ts';
import { events } from '../../tools/runner-fleet/src/commands/events.ts';
import { status } from '../../tools/runner-fleet/src/commands/status.ts';
import { ServerEvents } from '../../tools/runner-fleet/src/events/read.ts';
import { checkResults } from '../../tools/runner-fleet/src/events/results.ts';
import { lineText, receivedLine, statusOf } from '../../tools/runner-fleet/src/rollout/line.ts';
import { askAll, headsOf } from '../../tools/runner-fleet/src/rollout/presence.ts';
import { bodyOf, GOOD, goodHead, mutated, record } from './mutated.ts';
import { goodResult } from './stolen.ts';

const RUNS = Number(process.env.FLEET_MUTATIONS ?? 500);

const { createPrivateKey } = process.getBuiltinModule('node:crypto');
const keys = { web1: createPrivateKey(newSignKey()), web2: createPrivateKey(newSignKey()) };
const serverOf = (server: keyof typeof keys) => ({
  server,
  groups: [],
  nkey: `U${'A'.repeat(55)}`,
  key: publicKeyOf(keys[server]),
});
const [web1, web2] = [serverOf('web1'), serverOf('web2')];
const sealed = (use: Use, body: string, server: keyof typeof keys = 'web1') =>
  JSON.stringify(seal(use, server, body, keys[server]));

/** A broker that holds these messages, and whose servers reply with them. */
function brokerWith(messages: Readonly<Record<string, string>>): Broker {
  const at = new Date();
  return {
    request: async (subject: string) => messages[subject],
    last: async (_stream: string, subject: string) => {
      const text = messages[subject];
      return text === undefined ? undefined : { seq: 1, text, subject, at };
    },
    async *all(_stream: string, subject: string) {
      const text = messages[subject];
      if (text !== undefined) yield { seq: 1, text, subject, at };
    },
  } as unknown as Broker;
}

const io = { random: () => 0.5, elapsed: () => 1, now: () => new Date('2026-11-23T10:00:00Z') };

function assertSafe(...texts: string[]): void {
  for (const text of texts) assert.equal(text.replaceAll('\n', '').match(UNSAFE), null);
}

/** Everything that the operator's commands do with a reply, a stored state, a result and events of web1. */
async function readAll(use: string, body: string): Promise<void> {
  const nonce = String(io.random());
  const broker = brokerWith({
    'runner.ping.web1': sealed('state', body),
    'runner.ping.web2': sealed('state', JSON.stringify({ ...GOOD.state?.(), nonce }), 'web2'),
    'runner.result.web1.*': sealed('result', body),
    'runner.event.web1': sealed('events', body),
  });
  const answers = await askAll({ io } as never, broker, [web1, web2]);
  assert.ok(answers[1]?.state, 'web2 is heard');
  const heads = await headsOf(
    { io, note: (text: string) => assertSafe(text) } as never,
    broker,
    [web1, web2],
    { app: 'shop' },
  );
  assert.is(heads.at(-1)?.commit, goodHead.commit);
  const rows = answers.map(({ server, state, problem, ping_ms, skew }) => ({
    server: server.server,
    groups: [],
    state: state ? 'up' : 'bad',
    problem: problem ?? null,
    ping_ms,
    last_seen: state?.at ?? null,
    clock_skew_ms: skew,
    agent: state?.agent ?? null,
    apps: (state?.apps ?? []).map((app) => ({ ...app, behind: true })),
    events: state?.events,
  }));
  assertSafe(
    (await status.human?.({ servers: rows } as never, PLAIN, {} as never)) ?? '',
    jsonLine(rows),
  );
  const line = receivedLine(sealed('result', body), [web1, web2]);
  assert.ok(line, 'it is signed');
  assertSafe(lineText(line, PLAIN), jsonLine(line));
  assert.ok([0, 1, 3].includes(statusOf([line])));
  const checked = await checkResults(broker, web1);
  const source = new ServerEvents(web1);
  for await (const { bytes } of source.unread(broker))
    for (const each of bytes.toString('utf8').split('\n')) {
      const found = readRecord(each);
      if (!found) continue;
      const shown = { ...found, server: 'web1' };
      assertSafe((await events.human?.(shown as never, PLAIN, {} as never)) ?? '', jsonLine(shown));
    }
  assertSafe(...checked.problems, ...source.problems);
  if (use !== 'events') assert.is(source.problems.length, 1);
}

test('no mutation of a signed message ends a command or reaches the terminal', async () => {
  await fc.assert(
    fc.asyncProperty(mutated, async (mutation) => readAll(mutation.use, bodyOf(mutation))),
    { numRuns: RUNS },
  );
});

test('the messages are valid before they are mutated', async () => {
  const nonce = String(io.random());
  for (const [use, good] of Object.entries(GOOD)) await readAll(use, JSON.stringify(good()));
  const broker = brokerWith({
    'runner.ping.web1': sealed('state', JSON.stringify({ ...GOOD.state?.(), nonce })),
    'runner.event.web1': sealed('events', JSON.stringify(GOOD.events?.())),
  });
  const [answer] = await askAll({ io } as never, broker, [web1]);
  assert.is(answer?.problem, undefined);
  assert.is(
    receivedLine(sealed('result', JSON.stringify(goodResult())), [web1])?.status,
    'deployed',
  );
  const source = new ServerEvents(web1);
  const read: string[] = [];
  for await (const { bytes } of source.unread(broker)) read.push(bytes.toString('utf8'));
  assert.equal([read, source.problems], [[`${record}\n`], []]);
});

test.run();
