/** How long no one has used an app, and which apps sleep for it. */
import { lutimesSync } from 'node:fs';
import { basename } from 'node:path';
import { openBelowInstance } from '@runner/common/apps/instance-folder';
import type { SleepRule } from '@runner/common/apps/sleeping';
import { socketIn } from '@runner/common/apps/slots';
import { inFolder } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { connectionsTo } from '../run/connections.ts';

/**
 * Milliseconds since the last connection to the socket in a slot; 0 while one is open, undefined without a
 * socket. The kernel sets a socket's access time at a connection, with `relatime` only if it is not newer
 * than the socket's other times: so each look makes them the same again. With `noatime`, only
 * connections that are open at a look count.
 */
export function idleTime(slot: string, now: Date): number | undefined {
  const path = socketIn(slot);
  const name = basename(path);
  const look = () =>
    inFolder(openBelowInstance(slot), (folder) => {
      const stats = folder.stat(name);
      if (!stats?.isSocket()) return undefined;
      const isOpen = connectionsTo(path) > 0;
      const last = isOpen ? now.getTime() : Math.max(stats.atimeMs, stats.mtimeMs);
      // The socket may be another user's.
      if (last > stats.mtimeMs)
        orElse(() => lutimesSync(folder.path(name), last / 1_000, last / 1_000), undefined);
      return Math.max(0, now.getTime() - last);
    });
  return orElse(look, undefined);
}

/** An instance that runs and may sleep. */
export interface Awake extends SleepRule {
  readonly app: string;
  readonly instance: string;
  /** In milliseconds. */
  readonly idle: number;
}

/** What was used more recently does not make room for others, in milliseconds. */
const QUIET = 30_000;

/**
 * Those that fall asleep now: idle for long enough, or beyond the limit, the longest idle first. If memory
 * `isShort` and none of them does, the longest idle.
 */
export function sleepersIn(awake: readonly Awake[], isShort: boolean): Awake[] {
  const longest = [...awake].sort((one, other) => other.idle - one.idle);
  const isDue = ({ idle, after }: Awake) => idle >= after;
  const others = longest.filter((each) => !isDue(each));
  const isBeyond = ({ of, limit, idle }: Awake, at: number) =>
    idle >= QUIET && others.slice(at).filter((each) => each.of === of).length > limit;
  const found = [...longest.filter(isDue), ...others.filter(isBeyond)];
  const [first] = longest;
  return isShort && found.length === 0 && first && first.idle >= QUIET ? [first] : found;
}
