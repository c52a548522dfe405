/** Two of everything at once on one root, for some seconds: nothing is lost, everybody ends. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, start } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, must, queuedIn, record, type Server, TOKEN } from './server.ts';

/** What one process does again and again. */
interface Doer {
  readonly what: string;
  readonly tool: string;
  readonly args: (turn: number) => readonly string[];
  readonly stdin?: (turn: number) => string;
  /** Statuses beside 0: somebody else was faster, or has the lock. */
  readonly also?: readonly number[];
  /** It goes on for as long as others give it work, so it gets a signal. */
  readonly endless?: true;
  /** Called when it has done it. */
  readonly done?: (turn: number, ended: Ended) => void;
}

/** What was acknowledged, to be looked for at the end. */
interface Promised {
  readonly apps: Map<string, string>;
  readonly records: Set<string>;
  readonly messages: Set<string>;
}

const newest = (name: string, turn: number) => `k${name}${turn}.0`;

function doersOf(name: string, promised: Promised): Doer[] {
  const app = (turn: number) => `${name}${turn}`;
  const event = (turn: number) => {
    const deploy_id = `${name.slice(0, 1)}${String(turn).padStart(7, '0')}`;
    return `${JSON.stringify(record(newest(name, turn), { deploy_id }))}\n`;
  };
  const chat = ['--channel', 'telegram', '--token-file', '-', '--chat-id', '-1001234567890'];
  return [
    {
      what: 'add',
      tool: 'runner-add',
      args: (turn) => ['--repo', 'acme/x', '--branch', 'main', '--token', '-', '--name', app(turn)],
      stdin: () => TOKEN,
      done: (turn) => promised.apps.set(app(turn), 'main'),
    },
    {
      what: 'edit',
      tool: 'runner-edit',
      args: (turn) => [name === 'one' ? 'blog' : 'open', '--branch', `b${turn}`],
      done: (turn) => promised.apps.set(name === 'one' ? 'blog' : 'open', `b${turn}`),
    },
    { what: 'rekey', tool: 'runner-tokens', args: () => ['rekey'] },
    { what: 'deploy', tool: 'runner-deploy', args: () => ['shop'], also: [75] },
    { what: 'fetch', tool: 'runner-fetch', args: () => ['--deploy', 'shop'] },
    {
      what: 'emit',
      tool: 'runner-audit',
      args: () => ['emit'],
      stdin: event,
      done: (turn) => promised.records.add(newest(name, turn)),
    },
    {
      what: 'send',
      tool: 'runner-notify',
      args: () => ['send', '--channel', 'discord', '--wait', '1'],
      stdin: event,
      done: (turn) => promised.messages.add(newest(name, turn)),
    },
    // It waits for the rates of the chats: a minute for every thirty messages.
    { what: 'flush', tool: 'runner-notify', args: () => ['flush'], endless: true },
    {
      what: 'setup',
      tool: 'runner-notify',
      args: (turn) => ['setup', ...chat, '--thread-id', String((turn % 9) + 1), '--no-test'],
      stdin: () => BOT_TOKEN,
    },
    { what: 'list', tool: 'runner-tokens', args: () => ['list', '--json'] },
  ];
}

/** Each does it so often at least, however slow the machine is. */
const TURNS_MIN = 3;

/** Milliseconds for one run on a busy machine. */
const LIMIT = 300_000;

/** One turn; an endless command gets a signal when the time is over. */
async function turnOf(root: string, doer: Doer, turn: number, over: Promise<void>): Promise<Ended> {
  const running = start(doer.tool, doer.args(turn), {
    root,
    timeout: LIMIT,
    stdin: doer.stdin?.(turn) ?? '',
  });
  let told = false;
  if (doer.endless)
    void over.then(() => {
      told = true;
      running.kill();
    });
  const ended = await running.done;
  const statuses = [0, ...(doer.also ?? [])];
  const isFine = told && (ended.signal === 'SIGTERM' || ended.status === 143);
  assert.ok(
    isFine || (ended.signal === null && statuses.includes(ended.status ?? -1)),
    `${doer.what}: ${ended.status}: ${ended.stderr}${ended.stdout}`,
  );
  return ended;
}

/**
 * Lets two of each work for some seconds, then checks that everything acknowledged is there.
 * Returns how often each has done it.
 */
export async function crowd(server: Server, seconds: number): Promise<string> {
  const root = server.copy();
  const promised: Promised = { apps: new Map(), records: new Set(), messages: new Set() };
  let isOver = false;
  const over = sleep(seconds * 1000).then(() => {
    isOver = true;
  });
  const runs = new Map<string, number>();
  const work = async (doer: Doer) => {
    for (let turn = 0; !isOver || (turn < TURNS_MIN && !doer.endless); turn += 1) {
      const ended = await turnOf(root, doer, turn, over);
      if (ended.status === 0) doer.done?.(turn, ended);
      runs.set(doer.what, (runs.get(doer.what) ?? 0) + 1);
    }
  };
  await Promise.all([...doersOf('one', promised), ...doersOf('two', promised)].map(work));
  await allIsThere(server, root, promised);
  const sum = [...runs.values()].reduce((all, each) => all + each, 0);
  return `${sum} runs: ${[...runs].map(([what, count]) => `${what} ${count}`).join(', ')}`;
}

async function allIsThere(server: Server, root: string, promised: Promised): Promise<void> {
  const tokens = await must('runner-tokens', ['list', '--json'], { root });
  const groups = JSON.parse(tokens.stdout) as { tokens: { apps: string[] }[] };
  const withToken = new Set(groups.tokens.flatMap(({ apps }) => apps));
  for (const [app, branch] of promised.apps) {
    const state = JSON.parse(readFileSync(join(root, 'state', `${app}.json`), 'utf8'));
    assert.is(state.branch, branch, app);
    assert.ok(app === 'open' || withToken.has(app), `${app} has lost its token`);
  }
  const log = readFileSync(join(root, 'logs/deploy-events.jsonl'), 'utf8').split('\n');
  const records = log.filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>);
  const versions = new Set(records.map(({ version }) => version));
  assert.equal(
    [...promised.records].filter((each) => !versions.has(each)),
    [],
  );
  // Of two deploys of one app each has its start and its end before the other begins.
  const own = records.filter(
    ({ deploy_id, project }) =>
      project === 'shop' && /^[0-9a-f]{8}$/.test(String(deploy_id)) && deploy_id !== 'a1b2c3d4',
  );
  for (const [index, each] of own.entries()) {
    if (each.event_type === 'DeployStarted') assert.is(own[index + 1]?.deploy_id, each.deploy_id);
  }
  const config = readFileSync(join(root, 'config.yml'), 'utf8');
  assert.ok(config.startsWith('# ours\n') && config.includes(server.hook.webhook), config);
  // The rates of the chat are the client's own: what still waits is there, the rest has arrived.
  const arrived = JSON.stringify(server.hook.messages.map(({ payload }) => payload));
  const waiting = queuedIn(root, 'discord').map((name) =>
    readFileSync(join(root, 'spool/notify', name), 'utf8'),
  );
  const all = arrived + waiting.join('');
  assert.equal(
    [...promised.messages].filter((each) => !all.includes(each)),
    [],
  );
}
