/** Starting what sleeps: once for all its requests, a few at a time, and later again if it failed. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostOfUrl, sleepRule } from '@runner/common/apps/sleeping';
import { asleepSince, liveSlot, slotPaths, socketIn } from '@runner/common/apps/slots';
import { allNames, visitApps } from '@runner/common/apps/store';
import { passed } from '@runner/common/foundation/apart';
import { EXIT } from '@runner/common/foundation/failure';
import type { InstancePaths, Server } from '@runner/common/foundation/paths';

/** An instance that may sleep. */
export interface Sleeper {
  readonly app: string;
  readonly instance: string;
  readonly paths: InstancePaths;
}

/** The instance of a preview with this host. A state that cannot be read has none. */
export function sleeperOf({ paths }: Server, host: string): Sleeper | undefined {
  let found: Sleeper | undefined;
  visitApps(
    paths,
    (state) => {
      const { app, instances } = state;
      if (!sleepRule(state)) return;
      for (const [instance, { current }] of Object.entries(instances))
        if (hostOfUrl(current?.url) === host)
          found ??= { app, instance, paths: paths.app(app).instance(instance) };
    },
    () => {},
    allNames(paths),
  );
  return found;
}

/** The socket that gets the requests of an instance; undefined while it sleeps. */
export function socketOf({ paths }: Sleeper): string | undefined {
  const slot = liveSlot(paths);
  return slot && !asleepSince(paths) ? socketIn(slotPaths(paths, slot).dir) : undefined;
}

/** Starts at once: the next ones wait. */
const AT_ONCE = 2;
/** How long a start waits for another command of the app. */
const LOCK_WAIT = '30s';
/** Seconds until the next start after one that failed; it doubles with each, at most to the second. */
const AGAIN = [5, 300] as const;
/** Between two looks whether it is awake, in milliseconds. */
const POLL = 20;

/** What is being started, and what failed to start. */
export class Wakes {
  readonly #server: Server;
  readonly #running = new Map<string, Promise<number | undefined>>();
  readonly #failed = new Map<string, { readonly tries: number; readonly until: number }>();
  readonly #queue: (() => void)[] = [];
  #free = AT_ONCE;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Whether nothing is started, and no failure delays the next start. */
  get isQuiet(): boolean {
    const now = performance.now();
    return this.#free === AT_ONCE && [...this.#failed.values()].every(({ until }) => until < now);
  }

  /** Resolves once it is awake, or with seconds after which to try again, at the latest after `limit` ms. */
  async wake(sleeper: Sleeper, limit: number): Promise<number | undefined> {
    if (socketOf(sleeper) !== undefined) return undefined;
    const key = `${sleeper.app} ${sleeper.instance}`;
    const left = (this.#failed.get(key)?.until ?? 0) - performance.now();
    if (left > 0) return Math.ceil(left / 1_000);
    let running = this.#running.get(key);
    if (!running) {
      // Later than the line after it, also if something else has woken it already.
      running = this.#start(key, sleeper).finally(() => this.#running.delete(key));
      this.#running.set(key, running);
    }
    return Promise.race([running, sleep(limit, AGAIN[0], { ref: false })]);
  }

  async #start(key: string, sleeper: Sleeper): Promise<number | undefined> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free -= 1;
    let ended: { readonly status: number | null } | undefined;
    void this.#run(sleeper).then((status) => {
      ended = { status };
      const next = this.#queue.shift();
      if (next) next();
      else this.#free += 1;
    });
    // Another command may have woken it, such as a deploy.
    while (!ended && socketOf(sleeper) === undefined) await sleep(POLL);
    if (socketOf(sleeper) !== undefined) {
      this.#failed.delete(key);
      return undefined;
    }
    // Another command, such as a build, is no failure of the app.
    const isBusy = ended?.status === EXIT.busy;
    const tries = isBusy ? 1 : (this.#failed.get(key)?.tries ?? 0) + 1;
    const wait = Math.min(AGAIN[0] * 2 ** (tries - 1), AGAIN[1]);
    this.#failed.set(key, { tries, until: performance.now() + wait * 1_000 });
    return wait;
  }

  /** In a process of its own, which outlives this one. Resolves its status. */
  #run({ app, instance }: Sleeper): Promise<number | null> {
    const { io, paths } = this.#server;
    const program = join(dirname(io.program), 'runner-start');
    const args = [app, '--instance', instance, '--asleep', '--wait', LOCK_WAIT];
    const child = spawn(process.execPath, [program, ...args, '--root', paths.root], {
      env: passed(io.env),
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Promise((resolve) => {
      child.once('error', () => resolve(null));
      child.once('exit', resolve);
    });
  }
}
