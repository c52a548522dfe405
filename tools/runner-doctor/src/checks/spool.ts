/** What waits to be sent or written, and what was given up. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '@runner/common/files/read';
import { type Found, orWell, type Patient, problem, warning } from '../finding.ts';

/** A message that waits longer, in milliseconds, waits for somebody. */
const LONG = 3_600_000;

/** The entries of a spool: `<id>.<channel>.json`, unlike the state of a channel. */
const isMessage = (name: string): boolean => /^[^.].*\.(?:telegram|discord)\.json$/.test(name);

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

export function spool({ io, paths }: Patient): readonly Found[] {
  const now = io.now().getTime();
  const found: Found[] = [];
  const events = namesIn(paths.auditSpool).filter((name) => name.endsWith('.jsonl'));
  if (events.length > 0) {
    const what = `${counted(events.length, 'event')} could not be written to the audit log`;
    // Whatever can append to the log appends them first.
    found.push(problem(what, 'runner audit emit </dev/null'));
  }
  const age = (name: string) =>
    now - (lstatSync(join(paths.notifySpool, name), { throwIfNoEntry: false })?.mtimeMs ?? now);
  const waiting = namesIn(paths.notifySpool).filter(isMessage);
  const old = waiting.filter((name) => age(name) > LONG);
  if (old.length > 0) {
    const what = `${counted(old.length, 'message')} waited for more than an hour`;
    found.push(warning(what, 'runner notify flush'));
  }
  const dead = namesIn(join(paths.notifySpool, 'dead')).filter(isMessage);
  if (dead.length > 0) {
    const what = `${counted(dead.length, 'message')} could not be delivered and ${dead.length === 1 ? 'was' : 'were'} given up`;
    found.push(warning(what, 'runner notify queue list --dead'));
  }
  return orWell(
    found,
    waiting.length > 0 ? `${counted(waiting.length, 'message')} on the way` : 'nothing waits',
  );
}
