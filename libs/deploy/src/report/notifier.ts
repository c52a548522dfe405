/**
 * The `runner-notify send` of a deploy, which reads the events from its standard input. A chat that
 * fails or hangs never changes the outcome of a deploy.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lineOf } from '@runner/common/audit/append';
import type { DeployEvent } from '@runner/common/audit/events';
import { readConfig } from '@runner/common/config/file';
import { commitStatusOf, NO_CHANNEL, SET_UP } from '@runner/common/config/settings';
import type { NotifyChoice } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { EXPOSED } from '@runner/common/guards/exposure';
import { ended } from '../run/child.ts';
import { notifierEnvironment } from '../run/environment.ts';

/** Longest wait for the chats after a deploy, in milliseconds. */
const PATIENCE = 15_000;

/** Sends events to the chats while the deploy runs. */
export interface Notifier {
  send(event: DeployEvent): void;
  /** Waits up to 15 s until everything is sent; returns what went wrong, in words. */
  finish(): Promise<string[]>;
}

/** For `--no-notify`, and for an app without notifications. */
export const silent: Notifier = { send: () => {}, finish: async () => [] };

/** Keeps events until `start` is called: starting a process costs time that something urgent needs. */
export function heldNotifier(start: () => Notifier): Notifier & { start(): Notifier } {
  const events: DeployEvent[] = [];
  return {
    ...silent,
    send: (event) => void events.push(event),
    start() {
      const notifier = start();
      for (const event of events) notifier.send(event);
      return notifier;
    },
  };
}

/**
 * For an attempt at what failed before: sends nothing if it only starts and fails as `isKnown` says, and otherwise
 * everything.
 */
export function repeatNotifier(
  start: () => Notifier,
  isKnown: (event: DeployEvent) => boolean,
): Notifier {
  const held = heldNotifier(start);
  let started: Notifier | undefined;
  return {
    send(event) {
      (started ?? held).send(event);
      if (event.event_type !== 'DeployStarted' && !isKnown(event)) started ??= held.start();
    },
    finish: async () => (await started?.finish()) ?? [],
  };
}

/**
 * Starts the notifier; `choice` is the app's own, undefined means the global channels, `own` that the
 * notifier looks up the choice of each event's app.
 */
export function startNotifier(
  io: Io,
  root: string,
  choice: NotifyChoice | 'own' | undefined,
): Notifier {
  // The code host may get the result, which no `.deploy.yml` decides.
  const writesStatus = () => commitStatusOf(readConfig(pathsOf(root)));
  const hasStatus = choice === 'none' && unlessFailure(writesStatus, false);
  if (choice === 'none' && !hasStatus) return silent;
  const program = join(dirname(io.program), 'runner-notify');
  if (!existsSync(program))
    return { ...silent, finish: async () => [`${program} is missing: no notification is sent`] };
  const named = hasStatus ? 'code-host' : (choice ?? 'all');
  const channel = choice === 'own' ? [] : ['--channel', named];
  // A killed deploy may have sent an event that its recovery sends again.
  const args = [program, 'send', '--once', '--root', root, ...channel];
  // A process group of its own: Ctrl-C ends the deploy, but not its notifications.
  const child = spawn(process.execPath, args, {
    env: notifierEnvironment(io.env),
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-16_384);
  });
  child.stdin?.on('error', () => {});
  const closed = ended(child);
  return {
    send: (event) => void child.stdin?.write(lineOf(event)),
    finish: async () => {
      const lines = await finish(child, closed, () => words);
      const asked = choice !== undefined && !['all', 'both', 'own'].includes(choice);
      // Where no chat is configured: of interest only to an app that names a channel.
      return asked ? lines : lines.filter((line) => !line.includes(`${NO_CHANNEL}: ${SET_UP}`));
    },
  };
}

async function finish(
  child: ChildProcess,
  closed: Promise<unknown>,
  words: () => string,
): Promise<string[]> {
  child.stdin?.end();
  const outcome = await Promise.race([closed, sleep(PATIENCE, 'late', { ref: false })]);
  const lines = words()
    .split('\n')
    // The deploy itself has printed that already.
    .filter((line) => line !== '' && !line.includes(`: ${EXPOSED}`));
  if (outcome !== 'late') return lines;
  child.stderr?.destroy();
  child.unref();
  return [
    ...lines,
    `the chat services did not accept the messages within ${PATIENCE / 1000} s; delivery continues in the background`,
  ];
}
