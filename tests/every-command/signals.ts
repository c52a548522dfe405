/** Every command that gets a signal while it waits: for its reader, its input, a host, a lock, a step. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { constants as system } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, type RunningCommand, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONTRACT } from './contract.ts';
import type { Entry } from './entry.ts';
import { orphansOf } from './orphans.ts';
import { HOLDER, type Place, SITUATIONS } from './situations.ts';
import { sharedStage as stage } from './stage.ts';
import { argsOf, wordsOf } from './walk.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let signals = 0;
test.after(async () => {
  process.stdout.write(`(${signals} signals)\n`);
  await (await stage()).close();
});

/** A descriptor that takes no more bytes: a process that writes to it waits. */
function fullPipe(): { fd: number; close(): void } {
  const path = join(temporaryFolder('pipe'), 'pipe');
  execFileSync('mkfifo', [path]);
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const piece = Buffer.alloc(4096);
  try {
    for (;;) writeSync(both, piece);
  } catch {
    // EAGAIN: it is full.
  }
  const fd = openSync(path, constants.O_WRONLY);
  return {
    fd,
    close: () => {
      closeSync(fd);
      closeSync(both);
    },
  };
}

/** What a process is doing, and how much of the processor it has had. */
function progressOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return `${fields[0]} ${fields[11]} ${fields[12]}`;
  } catch {
    return 'gone';
  }
}

/** Resolves when a process has been asleep for a while: it waits for something. */
async function asleep(pid: number): Promise<void> {
  let before = '';
  for (let same = 0; same < 8; ) {
    await sleep(15);
    const now = progressOf(pid);
    if (now === 'gone') return;
    same = now === before && now.startsWith('S') ? same + 1 : 0;
    before = now;
  }
}

/** The status as a shell reports it. */
const shellStatus = ({ status, signal }: Ended) =>
  signal === null ? status : 128 + system.signals[signal];

interface Waiting {
  readonly running: RunningCommand;
  readonly root: string;
}

/** Signals the process alone, as a supervisor may, and looks at what becomes of it. */
async function endedBy(
  waiting: Waiting,
  signal: NodeJS.Signals,
  what: string,
  others?: RegExp,
): Promise<void> {
  process.kill(waiting.running.pid, signal);
  signals += 1;
  const ended = await waiting.running.done;
  assert.is(shellStatus(ended), 128 + system.signals[signal], `${what}: ${ended.stderr}`);
  assert.not.match(ended.stderr, /this is a bug|\n {4}at /, what);
  assert.equal(await orphansOf(waiting.root, others), [], what);
}

/** Starts the first call of a command, which has something that it waits for. */
async function started(
  entry: Entry,
  prepare: (place: Place) => Promise<{ args?: readonly string[]; fd?: number; open?: boolean }>,
): Promise<Waiting> {
  const set = await stage();
  const [call] = entry.calls;
  const root = set.copy(join(temporaryFolder('signals'), 'root'));
  const { args, fd, open } = await prepare({ root, stage: set, after: [] });
  const running = start(
    wordsOf(entry)[0],
    [...wordsOf(entry).slice(1), ...(args ?? argsOf(call, set))],
    {
      root,
      ...(!open && { stdin: call.stdin?.(set) ?? '' }),
      ...(fd !== undefined && { fds: { 1: fd } }),
      env: set.env,
    },
  );
  return { running, root };
}

const entryOf = (command: string): Entry => {
  const entry = CONTRACT.find((each) => each.command === command);
  if (!entry) throw new Error(command);
  return entry;
};

/** Commands that ask a host, with what they are called with. */
const ASKING: readonly (readonly [command: string, ...args: string[]])[] = [
  ['deploy', 'shop'],
  ['deploy', 'shop', '--check'],
  ['fetch', '--deploy'],
  ['tokens test', 'shop'],
  ['notify test'],
  ['notify status'],
  ['notify flush', '--now'],
  ['doctor'],
];

/** Tests every command with each of the signals, or with one of them in turn. */
export function testSignals(every: boolean): void {
  let turn = 0;
  const next = () => {
    turn += 1;
    return every ? SIGNALS : [SIGNALS[turn % SIGNALS.length] as NodeJS.Signals];
  };

  for (const entry of CONTRACT) {
    // These finish what they have begun and then report the signal.
    if (['deploy', 'fetch', 'rollback'].includes(entry.command)) continue;
    // A refusal is not an answer that waits for its reader.
    if (entry.calls[0].status !== undefined) continue;
    // It says nothing before it is asked.
    if (entry.command === 'mcp') continue;
    const what = `runner ${entry.command}`;
    test(`${what} whose reader has stopped ends at a signal, with its status`, async () => {
      for (const signal of next()) {
        const pipe = fullPipe();
        const waiting = await started(entry, async () => ({ fd: pipe.fd }));
        await asleep(waiting.running.pid);
        await endedBy(waiting, signal, `${what} ${signal}`);
        pipe.close();
      }
    });
  }

  for (const entry of CONTRACT.filter(({ calls }) => calls[0].stdin !== undefined)) {
    const what = `runner ${entry.command}`;
    test(`${what} that waits for its input ends at a signal`, async () => {
      for (const signal of next()) {
        const waiting = await started(entry, async () => ({ open: true }));
        await asleep(waiting.running.pid);
        await endedBy(waiting, signal, `${what} ${signal}`);
      }
    });

    test(`${what} is not ended by SIGPIPE`, async () => {
      const waiting = await started(entry, async () => ({ open: true }));
      await asleep(waiting.running.pid);
      process.kill(waiting.running.pid, 'SIGPIPE');
      signals += 1;
      waiting.running.stdin.end(entry.calls[0].stdin?.(await stage()));
      const ended = await waiting.running.done;
      assert.is(ended.status, entry.calls[0].status ?? 0, `${what}: ${ended.stderr}`);
    });
  }

  for (const [command, ...args] of ASKING) {
    test(`runner ${[command, ...args].join(' ')} that waits for a host ends at a signal`, async () => {
      const set = await stage();
      const services = [set.git, set.api, set.bot, set.hook];
      const count = () => services.reduce((sum, { requests }) => sum + requests.length, 0);
      for (const signal of next()) {
        const before = count();
        for (const service of services) service.fail('hang', 99);
        const waiting = await started(entryOf(command), async () => ({ args }));
        while (count() === before && progressOf(waiting.running.pid) !== 'gone') await sleep(10);
        await endedBy(waiting, signal, `${command} ${signal}`);
        set.heal();
      }
    });
  }

  for (const command of ['add', 'edit', 'tokens rekey']) {
    test(`runner ${command} that waits for another command ends at a signal`, async () => {
      for (const signal of next()) {
        const after: (() => void)[] = [];
        const waiting = await started(entryOf(command), async (place) => {
          await SITUATIONS['another command changes the registry']({ ...place, after });
          return {};
        });
        await asleep(waiting.running.pid);
        await endedBy(waiting, signal, `${command} ${signal}`, HOLDER);
        for (const action of after) action();
      }
    });
  }

  test('runner audit tail --follow ends at a signal, with its status', async () => {
    for (const signal of next()) {
      const waiting = await started(entryOf('audit tail'), async () => ({ args: ['--follow'] }));
      await asleep(waiting.running.pid);
      await endedBy(waiting, signal, signal);
    }
  });

  test('runner deploy that waits for a step ends it and everything that it started', async () => {
    const set = await stage();
    await set.git.commit(
      'acme/site',
      { '.deploy.yml': 'build: "sleep 600 & (trap \'\' INT TERM HUP; sleep 601) & sleep 602"\n' },
      'slow',
      { branch: 'slow' },
    );
    for (const signal of next()) {
      const args = ['site', '--no-notify', '--ref', 'slow', '--json'];
      const waiting = await started(entryOf('deploy'), async () => ({ args }));
      for await (const line of waiting.running.stdout) {
        if (line.includes('build')) break;
      }
      await endedBy(waiting, signal, signal);
    }
  });
}
