/** The lock of an app: how to take it, wait for it, and report who holds it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { progressText } from '@runner/common/apps/progress';
import { findApp, requireTrustedApp } from '@runner/common/apps/store';
import { type Holder, holderOf, type Lock, liveHolder, takeLock } from '@runner/common/files/lock';
import { startTimeOf } from '@runner/common/files/process';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { initiatorOf } from '@runner/common/foundation/user';

/** Between two attempts to take the lock, in milliseconds. */
const POLL = 300;
/** Longest wait for what has recorded how it ended, in milliseconds: most of the time it is over at once. */
const END_WAIT = 2_000;
/** Longest wait until a new holder has written itself into the lock, in milliseconds. */
const HOLDER_WAIT = 1_000;

/** Who wants the lock of an app. */
export interface LockRequest extends Server {
  readonly app: string;
  /** How long to wait for it, in milliseconds; undefined: not at all. */
  readonly wait?: number | undefined;
  readonly signal?: AbortSignal;
  /** Whether there is nothing left to do: ends the wait. */
  isMoot?(): boolean;
  /** Is called once if there is something to wait for. */
  note?(text: string): void;
}

/** Noted in the lock: what remains changes nothing that runs. */
export const ENDING = { ending: true } as const;

/** What takes it, for others who want it. */
export interface LockHolder {
  readonly command: string;
  readonly trigger?: string | undefined;
  readonly deployId?: string;
}

/** Takes the lock of an app. Throws `guard_tripped`, `app_not_found`, `locked`, `interrupted`. */
export async function lockApp(
  request: LockRequest,
  { command, trigger = 'manual', deployId }: LockHolder,
): Promise<Lock> {
  const { io, paths, wait = 0, signal, note, isMoot } = request;
  const { app } = requireTrustedApp(paths, request.app);
  const start_time = startTimeOf(io.pid);
  const holder = {
    pid: io.pid,
    command,
    trigger,
    ...(deployId !== undefined && { deploy_id: deployId }),
    user: initiatorOf(io, trigger),
    start_time,
  };
  const began = io.elapsed();
  for (let attempt = 1; ; attempt += 1) {
    const lock = takeLock(paths.lock(app), 0, { ...holder, since: io.now().toISOString() });
    if (lock) return lock;
    const { deploy_id: running, ending } = holderOf(paths.lock(app));
    // The deploy itself, begun by another process: its end is the answer.
    const isRunning = deployId !== undefined && running === deployId;
    const patience = ending === true ? Math.max(wait, END_WAIT) : wait;
    if (io.elapsed() - began >= patience && !isRunning)
      throw new Failure('locked', await busyText(request));
    if (attempt === 1 && !ending) note?.(`waits: ${await busyText(request)}`);
    await sleep(POLL);
    if (signal?.aborted || isMoot?.()) throw new Failure('interrupted', 'interrupted');
  }
}

/** Does something under the lock of an app. Throws what `lockApp` throws. */
export async function underLock<T>(
  request: LockRequest,
  command: string,
  work: () => T | Promise<T>,
  trigger?: string,
): Promise<T> {
  using _lock = await lockApp(request, { command, trigger });
  return await work();
}

/** `'shop' is busy: deploy of v4, at build after 42 s, begun by ada, process 7; see: …`. */
async function busyText({ io, paths, app }: LockRequest): Promise<string> {
  const holder = await awaitHolder(paths.lock(app));
  const { pid, command, since, user, ending } = holder;
  if (pid === undefined) return `'${app}' is busy`;
  const { deploying } = findApp(paths, app) ?? {};
  const isMarked = deploying && deploying.deploy_id === holder.deploy_id;
  const what = isMarked ? `${command} of ${deploying.version}` : `${command}`;
  const unmarked = ending ? 'its end' : command === 'deploy' ? 'fetch' : undefined;
  const stage = isMarked ? deploying.stage : unmarked;
  const progress = progressText(stage, since ?? '', io.now());
  const end = stage === 'canary' ? `; runner cancel ${app} withdraws it` : '';
  const by = user === undefined ? 'begun by' : `begun by ${user},`;
  return `'${app}' is busy: ${what}, ${progress}, ${by} process ${pid}; see: runner status ${app}${end}`;
}

/** The holder writes itself into the file after taking the lock: until then it names an earlier one. */
async function awaitHolder(path: string): Promise<Holder> {
  for (let waited = 0; waited < HOLDER_WAIT && !liveHolder(path); waited += 20) await sleep(20);
  return liveHolder(path) ?? {};
}
