/** Makes what is missing, one thing after the other, and undoes what setup has made. */
import { Failure } from '@runner/common/foundation/failure';
import type { MadeThing } from '@runner/deploy/instances/setup-record';
import { contentsAt, type FormerFile, revertFile, standingOf } from './files.ts';
import { kindOf, restartIfStuck } from './kinds.ts';
import {
  beginThing,
  entryOf,
  forgetThing,
  isNeededElsewhere,
  type Machine,
  saveRecord,
} from './machine.ts';
import { idOf, type Thing } from './thing.ts';

/** What came of a thing. */
export interface ThingReport {
  readonly thing: Thing;
  /** `wanted`: not made yet. `kept`: a person's, and left alone. */
  state: 'there' | 'wanted' | 'made' | 'kept' | 'failed' | 'removed';
}

/** Whether a thing is as it is wanted, and was made to its end. */
export function isThere(machine: Machine, thing: Thing): boolean {
  const entry = entryOf(machine, thing);
  // What several apps need stays until the last of them has gone, so each records it.
  const isUnclaimed = !entry && isNeededElsewhere(machine, idOf(thing));
  if (entry?.state === 'making' || isUnclaimed) return false;
  return kindOf(thing.kind).isThere(machine, thing);
}

/** The files that a person wrote or changed, and that setup would replace. */
export function takenOver(machine: Machine, things: readonly Thing[]) {
  return things.flatMap((thing) => {
    if (thing.kind !== 'file') return [];
    const standing = standingOf(machine, thing);
    return standing === 'foreign' || standing === 'changed' ? [{ thing, standing }] : [];
  });
}

/** Makes each thing that is wanted, and shows it; stops at the first that fails, which is thrown. */
export function makeAll(
  machine: Machine,
  reports: readonly ThingReport[],
  show: (report: ThingReport) => void,
): void {
  const former = new Map<string, FormerFile>();
  for (const report of reports) {
    const { thing } = report;
    // What was made before may have changed the answer.
    if (report.state === 'there' && (thing.kind !== 'reload' || isThere(machine, thing))) continue;
    if (report.state === 'kept') {
      show(report);
      continue;
    }
    if (thing.kind === 'file') {
      const hashes = entryOf(machine, thing)?.hashes;
      former.set(thing.path, { bytes: contentsAt(thing.path), hashes: hashes && [...hashes] });
    }
    const entry = beginThing(machine, thing);
    try {
      kindOf(thing.kind).make(machine, thing, entry);
    } catch (error) {
      report.state = 'failed';
      show(report);
      if (thing.kind !== 'reload' || !(error instanceof Failure)) throw error;
      revert(machine, reports, former, thing.paths);
      if (thing.test) restartIfStuck(machine, thing.name);
      throw new Failure(error.code, `${error.message}; the files are as they were before`);
    }
    entry.state = 'made';
    saveRecord(machine);
    report.state = 'made';
    show(report);
  }
}

/** Puts the files and lines back that this run has changed and that a proxy does not accept. */
function revert(
  machine: Machine,
  reports: readonly ThingReport[],
  former: ReadonlyMap<string, FormerFile>,
  paths: readonly string[],
): void {
  for (const report of reports) {
    const { thing } = report;
    const entry = entryOf(machine, thing);
    if (!entry || !('path' in thing) || !paths.includes(thing.path)) continue;
    const before = former.get(thing.path);
    if (thing.kind === 'file' && before) revertFile(machine, entry, before);
    else if (thing.kind === 'line' && report.state === 'made')
      undoAll(machine, [entry], () => undefined);
    else continue;
    report.state = 'failed';
  }
}

/** What came of an entry of the record. */
export interface UndoneThing {
  readonly entry: MadeThing;
  readonly state: 'removed' | 'kept' | 'failed';
  /** Why it failed, or is kept. */
  readonly why?: string;
}

/** Undoes entries, the last first; what takes effect by a reload is reloaded at the end. */
export function undoAll(
  machine: Machine,
  entries: readonly MadeThing[],
  show: (undone: UndoneThing) => void,
): UndoneThing[] {
  const isReload = ({ kind }: MadeThing) => kind === 'reload';
  const order = [...entries].reverse();
  const all = [...order.filter((each) => !isReload(each)), ...order.filter(isReload)];
  const undoOne = (entry: MadeThing): UndoneThing => {
    try {
      const isNeeded = isNeededElsewhere(machine, entry.id);
      const needed = isNeeded ? 'another app needs it' : undefined;
      const own =
        isNeeded && !isReload(entry) ? undefined : kindOf(entry.kind).undo(machine, entry);
      forgetThing(machine, entry);
      const why = needed ?? own;
      return why === undefined ? { entry, state: 'removed' } : { entry, state: 'kept', why };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { entry, state: 'failed', why: error.message };
    }
  };
  return all.map((entry) => {
    const undone = undoOne(entry);
    show(undone);
    return undone;
  });
}

/** The entries of the record that nothing in the plan needs any more. */
export function staleEntries({ record }: Machine, things: readonly Thing[]): MadeThing[] {
  const wanted = new Set(things.map(idOf));
  return record.made.filter(({ id }) => !wanted.has(id));
}
