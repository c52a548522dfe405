/**
 * Processes of our own whose time runs faster, so that the windows of the services' rates can be
 * tested: the test file starts itself again in a role. Everything else is as in the executables.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { OpenChannels } from '../src/deliver/channels.ts';
import type { Clock } from '../src/deliver/clock.ts';
import { deliverDue } from '../src/deliver/flush.ts';
import { Announcer } from '../src/deliver/send.ts';
import type { Announceable } from '../src/message/records.ts';

/** Shortest real sleep, in milliseconds: a faster one would leave no time to two dozen others. */
const SLEEP_MIN = 30;

/** A time that began at `epoch` and has run `speed` times as fast since. */
export function fastNow(epoch: number, speed: number): () => number {
  // Not performance.now(): the start of a process is known less precisely than the windows need.
  return () => epoch + (Date.now() - epoch) * speed;
}

function fastClock(epoch: number, speed: number): Clock {
  const now = fastNow(epoch, speed);
  return {
    now: () => Math.round(now()),
    elapsed: now,
    sleep: (milliseconds) => pause(Math.max(milliseconds / speed, speed > 50 ? 1 : SLEEP_MIN)),
    random: Math.random,
  };
}

/** What a role does, when this process plays one. */
export interface Play {
  readonly role: 'send' | 'flush';
  readonly root: string;
  readonly epoch: number;
  readonly speed: number;
  /** Of `send`. */
  readonly records?: readonly Announceable[];
  /** Of `send`: fast milliseconds. */
  readonly wait?: number;
}

/** The play that this process was started for. */
export function playHere(): Play | undefined {
  const text = process.argv[2];
  return text === undefined ? undefined : (JSON.parse(text) as Play);
}

function bareIo(): Io {
  return {
    env: {},
    pid: process.pid,
    now: () => new Date(),
    random: Math.random,
  } as unknown as Io;
}

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Plays a role: prints `{queued: deploy_id}` for what is on disk, then the results. */
export async function play({ role, root, epoch, speed, records, wait }: Play): Promise<void> {
  const paths = pathsOf(root);
  const clock = fastClock(epoch, speed);
  const note = () => {};
  const io = bareIo();
  if (role === 'send') {
    const announcer = new Announcer(
      { io, paths, clock, note, title: 'test' },
      { channel: 'both', dryRun: false, wait: wait ?? 0 },
    );
    const all = [];
    for (const record of records ?? []) {
      const results = announcer.announce(record);
      say({ queued: record.fields.version });
      all.push(results);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const result of (await Promise.all(all)).flat()) say(result);
    return;
  }
  // The deadline of an exchange is kept in memory until it has passed: it runs faster, too.
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (milliseconds) => timeout(Math.max(milliseconds / speed, 3_000));
  const opened = new OpenChannels({ io, paths, clock, note, title: 'test' });
  while (opened.spool.names('discord').length > 0) {
    await deliverDue(opened.outletOf('discord'), true, ({ result, entry }) =>
      say({ result, twice: entry.maybe_duplicate }),
    );
    await clock.sleep(1000);
  }
  say({ kilobytes: process.resourceUsage().maxRSS });
}

/** A started role. */
export interface Player {
  kill(): void;
  /** Everything that it printed, when it has ended; a half line of a killed one is left out. */
  readonly said: Promise<Record<string, unknown>[]>;
}

/** Starts the running test file again in a role. */
export function startPlay(what: Play): Player {
  const child: ChildProcess = spawn(process.execPath, [__filename, JSON.stringify(what)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    kill: () => child.kill('SIGKILL'),
    said: once(child, 'close').then(([status, signal]) => {
      if (status !== 0 && signal !== 'SIGKILL') throw new Error(`a role ended with ${status}`);
      const lines = Buffer.concat(chunks).toString('utf8').split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    }),
  };
}
