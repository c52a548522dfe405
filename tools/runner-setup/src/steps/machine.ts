/** The server on which things are made, and the record of what was made. */
import { rmdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeOpenFolder, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import {
  type MadeThing,
  otherRecords,
  recordPath,
  type SetupRecord,
} from '@runner/deploy/instances/setup-record';
import { fieldsOf, idOf, type Thing } from './thing.ts';

export interface Machine {
  readonly server: Server;
  readonly env: Env;
  readonly record: SetupRecord;
}

/** The entry of a thing in the record. */
export function entryOf({ record }: Machine, thing: Thing): MadeThing | undefined {
  const id = idOf(thing);
  return record.made.find((each) => each.id === id);
}

/** Records that a thing is about to be made. */
export function beginThing(machine: Machine, thing: Thing): MadeThing {
  const known = entryOf(machine, thing);
  const entry: MadeThing = known ?? {
    id: idOf(thing),
    kind: thing.kind,
    state: 'making',
    fields: fieldsOf(thing),
  };
  entry.state = 'making';
  if (!known) machine.record.made.push(entry);
  saveRecord(machine);
  return entry;
}

/** Forgets a thing; without any the record itself goes. */
export function forgetThing(machine: Machine, { id }: MadeThing): void {
  machine.record.made = machine.record.made.filter((each) => each.id !== id);
  saveRecord(machine);
}

/** Whether another app needs the same thing. */
export function isNeededElsewhere({ env, record }: Machine, id: string): boolean {
  return otherRecords(env, record.app).some(({ made }) => made.some((each) => each.id === id));
}

/** Writes the record, or removes it when it is empty. */
export function saveRecord({ env, record }: Machine): void {
  const path = recordPath(env, record.app);
  if (record.made.length === 0) {
    removeIfThere(path);
    return;
  }
  makeOpenFolder(dirname(path));
  // `runner doctor` and `deploy --check` read it as another user.
  writeWhole(path, `${JSON.stringify(record, null, 2)}\n`, 0o644);
}

export function missingAbove(path: string): string[] {
  const missing: string[] = [];
  for (let at = path; !isFolder(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

const isFolder = (path: string) => orElse(() => statSync(path).isDirectory(), false);

/** Removes folders that are empty, the innermost first. */
export function removeEmpty(folders: readonly string[]): void {
  for (const each of [...folders].reverse()) orElse(() => rmdirSync(each), undefined);
}
