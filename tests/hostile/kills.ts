/** `kill -9` of what writes the messages and config.yml. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Storm } from '@runner/testing/kill-storm';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, must, queuedIn, record, type Server } from './server.ts';

const versionsIn = (text: string) =>
  [...text.matchAll(/"version": ?"(k[a-z]*[\d.]+)"/g)].map((match) => match[1] ?? '');

/** Four events of two deploys; their versions are those of one storm and of one time. */
const lines = (name: string, time: number) =>
  Array.from({ length: 4 }, (_, index) => {
    const deploy_id = `d${String(time).padStart(6, '0')}${index % 2}`;
    return `${JSON.stringify(record(`k${name}${time}.${index}`, { deploy_id }))}\n`;
  }).join('');

/** The versions of a storm that have arrived, in order. */
function arrived({ hook }: Server, name: string): string[] {
  const version = new RegExp(`k${name}\\d+\\.\\d+`);
  return hook.messages.flatMap(({ payload }) => version.exec(JSON.stringify(payload)) ?? []);
}

/** Queues them: the chat is not there. */
async function queue(root: string, { hook }: Server, stdin: string): Promise<void> {
  forgetRates(root);
  hook.fail('drop', Number.POSITIVE_INFINITY);
  await must('runner-notify', ['send', '--wait', '0', '--channel', 'discord'], { root, stdin });
  hook.heal();
}

/** Resets the rates of the chats: otherwise every test would wait a minute for them. */
function forgetRates(root: string): void {
  for (const channel of ['discord', 'telegram'])
    rmSync(join(root, `spool/notify/${channel}.json`), { force: true });
}

/** What `send` acknowledged is delivered, by it or by a later `flush`. */
export function sending(root: string, server: Server): Storm {
  const acknowledged = new Set<string>();
  return {
    next: (time) => ({
      tool: 'runner-notify',
      args: ['send', '--json', '--channel', 'discord', '--wait', '5'],
      stdin: lines('send', time),
      // The process that sends, which a kill of `send` does not reach.
      env: { RUNNER_APART: '1' },
    }),
    async check({ stdout }) {
      for (const version of versionsIn(stdout)) acknowledged.add(version);
      forgetRates(root);
      await must('runner-notify', ['flush', '--now'], { root });
      assert.equal(queuedIn(root, 'discord'), []);
      const seen = new Set(arrived(server, 'send'));
      assert.equal(
        [...acknowledged].filter((each) => !seen.has(each)),
        [],
      );
    },
  };
}

/** `flush` of what is queued: everything arrives, and only what was under way may arrive twice. */
export function flushing(root: string, server: Server): Storm {
  const queued = new Set<string>();
  let kills = 0;
  return {
    async next(time) {
      const stdin = lines('flush', time);
      await queue(root, server, stdin);
      for (const version of versionsIn(stdin)) queued.add(version);
      return { tool: 'runner-notify', args: ['flush', '--now'] };
    },
    async check({ signal }) {
      if (signal !== null) kills += 1;
      forgetRates(root);
      await must('runner-notify', ['flush', '--now'], { root });
      assert.equal(queuedIn(root, 'discord'), []);
      const all = arrived(server, 'flush');
      const seen = new Set(all);
      assert.equal(
        [...queued].filter((each) => !seen.has(each)),
        [],
      );
      assert.ok(all.length - seen.size <= kills, `${all.length - seen.size} twice, ${kills} kills`);
    },
  };
}

/** `queue retry` and `drop`: each message is in one place and whole, and others stay. */
export function queueing(root: string): Storm {
  const spool = join(root, 'spool/notify');
  const dead = join(spool, 'dead');
  mkdirSync(dead, { recursive: true });
  const names = queuedIn(root, 'discord').concat(queuedIn(root, 'telegram'));
  const bury = () => {
    for (const name of readdirSync(spool).filter((each) => names.includes(each)))
      renameSync(join(spool, name), join(dead, name));
  };
  return {
    next() {
      bury();
      return { tool: 'runner-notify', args: ['queue', 'retry', '--all'] };
    },
    async check({ signal }) {
      const { stdout } = await must('runner-notify', ['queue', 'list', '--json'], { root });
      assert.not.match(stdout, /"damaged"/);
      const buried = readdirSync(dead).filter((name) => names.includes(name));
      if (signal === null) assert.equal(buried, []);
      const queued = readdirSync(spool).filter((name) => names.includes(name));
      assert.equal([...queued, ...buried].sort(), [...names].sort());
    },
  };
}

/** `queue drop` of one of many: it is there whole or gone. */
export function dropping(root: string, server: Server): Storm {
  const all = () =>
    [...queuedIn(root, 'discord')].map((name) => name.split('.')[0] as string).sort();
  let before: string[] = [];
  let dropped = '';
  return {
    async next(time) {
      // Each that was dropped is one less, and what has to be looked through stays as it is.
      if (all().length < 4) await queue(root, server, lines('drop', time));
      before = all();
      dropped = before[0] ?? '';
      return { tool: 'runner-notify', args: ['queue', 'drop', dropped] };
    },
    async check({ signal }) {
      const now = all();
      assert.equal([...new Set([...now, dropped])].sort(), before);
      if (signal === null) assert.not.ok(now.includes(dropped));
      const list = await must('runner-notify', ['queue', 'list', '--json'], { root });
      assert.not.match(list.stdout, /"damaged"/);
    },
  };
}

/** `setup`: config.yml is the one before or the new one, with its comment. */
export function settingUp(root: string, { hook }: Server): Storm {
  const path = join(root, 'config.yml');
  const read = () => readFileSync(path, 'utf8');
  return {
    next: (time) => {
      const topic = ['--chat-id', '-1001234567890', '--thread-id', String((time % 9) + 1)];
      const args = ['setup', '--channel', 'telegram', '--token-file', '-', ...topic, '--no-test'];
      return { tool: 'runner-notify', args, stdin: BOT_TOKEN };
    },
    async check({ signal }) {
      const text = read();
      if (signal === null) assert.match(text, /telegram_thread_id: \d\n/);
      assert.match(text, /^# ours\n/);
      assert.ok(text.endsWith('\n') && text.includes(hook.webhook), text);
      const ended = await run('runner-notify', ['status', '--offline', '--json'], { root });
      assert.is(ended.status, 0, ended.stderr);
    },
  };
}
