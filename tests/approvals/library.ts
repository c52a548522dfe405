/** Plans through the library, in this process: a world with an app that starts nothing, and real git. */

import type { StoredPlan } from '@runner/common/apps/plans';
import { type Io, processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { makePlan } from '@runner/deploy/plan/make';
import type { PlanRequest } from '@runner/deploy/plan/planners';
import { executable } from '@runner/testing/run';

export const HOUR = 3_600_000;

const none = () => {};
export const silent = {
  begin: none,
  done: none,
  failed: none,
  skipped: none,
  output: none,
  note: none,
};

/** The process on a root, with a clock that `ahead` moves, in ms. */
export function ioOf(ahead = 0): Io {
  const { PATH, HOME } = process.env;
  const io = processIo();
  return {
    ...io,
    cwd: '/',
    env: { PATH, HOME },
    program: executable('runner-deploy'),
    now: () => new Date(Date.now() + ahead),
  };
}

/** A plan of the app `shop`. */
export function planIn(
  root: string,
  verb: PlanRequest['verb'],
  more: Partial<PlanRequest> = {},
): Promise<StoredPlan> {
  const { signal } = new AbortController();
  const asked = {
    io: ioOf(),
    paths: pathsOf(root),
    app: 'shop',
    verb,
    by: 'eve',
    length: 24 * HOUR,
  };
  return makePlan({ ...asked, reporter: silent, signal, ...more });
}
