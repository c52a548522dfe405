/** Messages and events that are waiting or were given up. */

import { join } from 'node:path';
import { DESTINATION_NAMES } from '@runner/common/config/channels';
import { namesIn } from '@runner/common/files/read';
import type { Server } from '@runner/common/foundation/paths';
import { counted } from '@runner/common/text/words';
import { type CheckResult, type Findings, orOk, problem, warning } from '../foundation/finding.ts';

/** A message that waits longer is reported, in milliseconds. */
const LONG = 3_600_000;

/** Messages are named `<id>.<channel>.json`, after the time at which they were queued; a channel's state is a hidden file. */
const isMessage = (name: string): boolean =>
  !name.startsWith('.') && DESTINATION_NAMES.some((each) => name.endsWith(`.${each}.json`));

export function spool({ io, paths }: Server): Findings {
  const now = io.now().getTime();
  const found: CheckResult[] = [];
  const events = namesIn(paths.auditSpool).filter((name) => name.endsWith('.jsonl'));
  if (events.length > 0) {
    const what = `${counted(events.length, 'event')} could not be written to the audit log`;
    // Every command that appends to the log writes the waiting events first.
    found.push(problem(what, 'runner audit emit </dev/null'));
  }
  const age = (name: string) => now - Number.parseInt(name.slice(0, 9), 36);
  const waiting = namesIn(paths.notifySpool).filter(isMessage);
  const old = waiting.filter((name) => age(name) > LONG);
  if (old.length > 0) {
    const what = `${counted(old.length, 'message')} waiting for more than an hour`;
    found.push(warning(what, 'runner notify flush'));
  }
  const dead = namesIn(join(paths.notifySpool, 'dead')).filter(isMessage);
  if (dead.length > 0) {
    const what = `${counted(dead.length, 'message')} could not be delivered and ${dead.length === 1 ? 'was' : 'were'} given up`;
    found.push(warning(what, 'runner notify queue list --dead'));
  }
  return orOk(
    found,
    waiting.length > 0 ? `${counted(waiting.length, 'message')} on the way` : 'nothing is waiting',
  );
}
