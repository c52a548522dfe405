/** Many processes at once, against Discord's real limits in a time that runs faster. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { refusals } from '@runner/testing/discord-refusals';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Announceable } from '../src/message/records.ts';
import { newEntry } from '../src/spool/entry.ts';
import { entryName } from '../src/spool/names.ts';
import { event } from './chats.ts';
import { fastNow, type Play, play, playHere, startPlay } from './fast-process.ts';

const KINDS = ['DeployStarted', 'DeployFailure', 'RollbackSuccess'] as const;
const PROCESSES = 24;
const SPEED = 16;
/** Fast milliseconds: as long as it takes, on a busy machine too. */
const WAIT = 36_000_000;

/** Three records of one deploy, told apart by their version: `<deploy>-<index>`. */
function recordsOf(deploy: number): Announceable[] {
  const deploy_id = `deploy${String(deploy).padStart(2, '0')}`;
  return KINDS.map((kind, index) => ({
    kind,
    project: 'shop',
    fields: event(kind, { deploy_id, version: `${deploy_id}-${index}`, error: 'boom' }),
  }));
}

async function stage(speed: number) {
  const epoch = Date.now();
  const hook = await startDiscord({ rates: 1, now: fastNow(epoch, speed) });
  const root = temporaryFolder('storm');
  writeFileSync(join(root, 'config.yml'), `notify:\n  discord_webhook: ${hook.webhook}\n`);
  const common = { root, epoch, speed };
  return { hook, root, common };
}

const versions = (hook: Discord) =>
  hook.messages.map(({ payload }) => /deploy\d\d-\d/.exec(JSON.stringify(payload))?.[0] ?? '');

/** Each version once, in the order in which it first came. */
const firsts = (all: readonly string[]) => [...new Set(all)];

function inOrder(seen: readonly string[]): boolean {
  const last = new Map<string, number>();
  return seen.every((version) => {
    const [deploy = '', index] = version.split('-');
    const fits = Number(index) > (last.get(deploy) ?? -1);
    last.set(deploy, Number(index));
    return fits;
  });
}

test('24 processes with 3 messages each: all are delivered once, in order, without one refusal', async () => {
  const { hook, common } = await stage(SPEED);
  const players = Array.from({ length: PROCESSES }, (_, deploy) =>
    startPlay({ ...common, role: 'send', records: recordsOf(deploy), wait: WAIT }),
  );
  const said = (await Promise.all(players.map((each) => each.said))).flat();
  const results = said.filter((each) => each.result);
  assert.is(results.length, PROCESSES * KINDS.length);
  assert.ok(
    results.every(({ result, maybe_duplicate }) => result === 'delivered' && !maybe_duplicate),
  );
  assert.is(hook.messages.length, PROCESSES * KINDS.length);
  assert.ok(inOrder(versions(hook)));
  assert.equal(
    hook.requests.filter(({ status }) => status !== 200),
    [],
  );
  await hook.close();
});

test('with six killed at random and faults of every kind nothing on disk is lost, and order holds', async () => {
  const { hook, common } = await stage(SPEED);
  const faults = ['drop', 'html', 'cut', refusals.internal, refusals.rateLimited(1)] as const;
  for (let round = 0; round < 5; round += 1) {
    for (const fault of faults) {
      hook.fail({ slow: 1 }, 2);
      hook.fail(fault);
    }
  }
  const players = Array.from({ length: PROCESSES }, (_, deploy) =>
    startPlay({ ...common, role: 'send', records: recordsOf(deploy), wait: 60_000 }),
  );
  for (const player of players.slice(0, 6)) {
    void pause(400 + Math.random() * 2500).then(() => player.kill());
  }
  const said = (await Promise.all(players.map((each) => each.said))).flat();
  const queued = said.flatMap((each) => (each.queued ? [String(each.queued)] : []));
  const flushed = await startPlay({ ...common, role: 'flush' }).said;
  const seen = versions(hook);
  assert.equal(
    queued.filter((version) => !seen.includes(version)),
    [],
  );
  assert.ok(inOrder(firsts(seen)), seen.join(' '));
  // A killed process may leave one message of which nobody knows whether it arrived.
  assert.ok(seen.length - firsts(seen).length <= 6, seen.join(' '));
  assert.ok(queued.length >= 18 * KINDS.length);
  assert.ok(flushed.every((each) => each.result !== 'dead'));
  await hook.close();
});

/** The peak memory, in MB, of delivering a queue; the messages come in order. */
async function peakOf(count: number): Promise<number> {
  const { hook, root, common } = await stage(400);
  mkdirSync(join(root, 'spool/notify'), { recursive: true });
  for (let number = 0; number < count; number += 1) {
    const name = entryName(Date.now() - 1_000_000 + number, 0, 'discord');
    const fields = event('DeployFailure', {
      deploy_id: `deploy${String(number % 50).padStart(2, '0')}`,
      version: `v${number}`,
      error: 'npm ERR! code 1\n'.repeat(40),
    });
    // Written by hand: the disk's own speed is not what is tested.
    writeFileSync(
      join(root, 'spool/notify', name),
      JSON.stringify(newEntry('discord', fields, new Date())),
    );
  }
  const said = await startPlay({ ...common, role: 'flush' }).said;
  assert.equal(
    hook.messages.map(({ payload }) => /v\d+/.exec(JSON.stringify(payload))?.[0]),
    Array.from({ length: count }, (_, number) => `v${number}`),
  );
  await hook.close();
  return Number(said.at(-1)?.kilobytes) / 1024;
}

test('queued messages are delivered in order; twice as many need no more memory', async () => {
  // V8's heap has reached its full size with the first thousand: some 30 MB above an idle process.
  const [once, twice] = [await peakOf(1_000), await peakOf(2_000)];
  assert.ok(twice - once < 24, `${once} MB, ${twice} MB`);
});

const here: Play | undefined = playHere();
if (here) void play(here);
else test.run();
