/** How often a grant may restart an app without an approval, over all its sessions. */
import { dirname, join } from 'node:path';
import { holderFor, requireLock } from '@runner/common/files/lock';
import { makeFolder, readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { jsonObject } from '@runner/common/text/json';

const TURNS = 6;
const HOUR = 3_600_000;
const FILE_MAX = 65_536;
/** For the lock, in seconds. */
const WAIT = 10;

/** Takes one of the turns of this hour. Throws `rate_limited`. */
export function takeTurn({ io, paths }: Server, grant: string, app: string): void {
  const path = join(dirname(paths.auditSpool), 'agents', `${grant}.json`);
  using _lock = requireLock(
    join(paths.locksDir, 'agents', grant),
    'the grant',
    WAIT,
    holderFor(io, 'mcp'),
  );
  const all = jsonObject(readTextIfThere(path, FILE_MAX) ?? '') ?? {};
  const now = io.now().getTime();
  const isRecent = (time: unknown) => Math.abs(now - Number(time)) < HOUR;
  // Those of an hour ago go: an agent may restart any number of previews in its life.
  const recent = new Map(
    Object.entries(all)
      .map(([name, times]) => [name, [times].flat().filter(isRecent)] as const)
      .filter(([, left]) => left.length > 0),
  );
  const taken = recent.get(app) ?? [];
  if (taken.length >= TURNS)
    throw new Failure(
      'rate_limited',
      `${grant} has used its ${TURNS} turns of this hour for ${app}`,
    );
  makeFolder(dirname(path));
  writeWhole(path, JSON.stringify(Object.fromEntries(recent.set(app, [...taken, now]))));
}
