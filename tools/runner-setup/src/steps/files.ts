/** Files and links of setup, and lines in files of others: never a change of what a person wrote. */
import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashOf } from '@runner/common/audit/chain';
import {
  makeOpenFolder,
  readIfThere,
  readTextIfThere,
  removeIfThere,
} from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { type MadeThing, SETUP_FILE_MAX, setupFolder } from '@runner/deploy/instances/setup-record';
import {
  entryOf,
  forgetThing,
  type Machine,
  missingAbove,
  removeEmpty,
  saveRecord,
} from './machine.ts';
import type { FileThing, ThingOf } from './thing.ts';

/**
 * How a file stands: `older` is what setup wrote before, `changed` what a person made of that, `foreign`
 * what setup never wrote.
 */
export type Standing = 'there' | 'missing' | 'older' | 'changed' | 'foreign';

/** The contents of a file, or where a link leads in the form `-> path`; undefined without one. */
export function contentsAt(path: string): Buffer | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  return isLink ? Buffer.from(`-> ${readlinkSync(path)}`) : readIfThere(path, SETUP_FILE_MAX);
}

export const wantedOf = (thing: FileThing): string =>
  'to' in thing ? `-> ${thing.to}` : thing.text;

export function standingOf(machine: Machine, thing: FileThing): Standing {
  const found = contentsAt(thing.path);
  const entry = entryOf(machine, thing);
  if (found === undefined) return 'missing';
  const isWanted = found.equals(Buffer.from(wantedOf(thing)));
  if (isWanted) return 'there';
  if (!entry) return 'foreign';
  return entry.hashes?.includes(hashOf(found)) || isCopied(entry, found) ? 'older' : 'changed';
}

/** Whether a kill came between the copy of a file and its replacement. */
function isCopied({ backup }: MadeThing, found: Buffer): boolean {
  return backup !== undefined && contentsAt(backup)?.equals(found) === true;
}

/** Writes a file. What a person wrote is copied first; the record knows both before the file changes. */
export function makeFile(machine: Machine, thing: FileThing, entry: MadeThing): void {
  const found = contentsAt(thing.path);
  const wanted = wantedOf(thing);
  const isOurs = found === undefined || entry.hashes?.includes(hashOf(found));
  if (!isOurs && found && !found.equals(Buffer.from(wanted)) && !isCopied(entry, found)) {
    entry.backup = backupOf(machine, thing.path);
    makeOpenFolder(dirname(entry.backup));
    removeIfThere(entry.backup);
    writeWhole(entry.backup, found);
  }
  entry.hashes = [...new Set([hashOf(wanted), ...(entry.hashes ?? [])])];
  entry.folders ??= missingAbove(dirname(thing.path));
  saveRecord(machine);
  makeOpenFolder(dirname(thing.path));
  put(thing.path, wanted);
  entry.hashes = [hashOf(wanted)];
}

function put(path: string, contents: string | Buffer): void {
  const text = contents.toString();
  if (!text.startsWith('-> ')) {
    writeWhole(path, contents, 0o644);
    return;
  }
  const temporary = `${path}.runner-setup`;
  removeIfThere(temporary);
  symlinkSync(text.slice(3), temporary);
  renameSync(temporary, path);
}

/** Puts a file back as it was; false if a person has changed it since, and it stays. */
export function undoFile(
  _: Machine,
  { fields, hashes = [], backup, folders = [] }: MadeThing,
): string | undefined {
  const path = fields.path as string;
  const found = contentsAt(path);
  const copy = backup === undefined ? undefined : contentsAt(backup);
  const isOurs = found === undefined || hashes.includes(hashOf(found));
  if (!isOurs && !(copy && found.equals(copy)))
    return 'it was changed since, and is yours: remove it if nothing needs it';
  if (copy) put(path, copy);
  else removeIfThere(path);
  if (backup !== undefined) {
    removeIfThere(backup);
    removeEmpty([dirname(backup)]);
  }
  removeEmpty(folders);
  return undefined;
}

/** Puts back what a file was before this run, when a proxy does not accept what setup wrote. */
export function revertFile(machine: Machine, entry: MadeThing, former: FormerFile): void {
  const { path = '' } = entry.fields;
  if (former.bytes === undefined) removeIfThere(path);
  else put(path, former.bytes);
  if (former.hashes === undefined) {
    if (entry.backup !== undefined) removeIfThere(entry.backup);
    removeEmpty([...(entry.folders ?? []), ...(entry.backup ? [dirname(entry.backup)] : [])]);
    forgetThing(machine, entry);
    return;
  }
  entry.hashes = former.hashes;
  entry.state = 'made';
  saveRecord(machine);
}

/** A file before this run, and what the record knew of it; no hashes: nothing. */
export interface FormerFile {
  readonly bytes: Buffer | undefined;
  readonly hashes: string[] | undefined;
}

const backupOf = ({ env, record }: Machine, path: string) =>
  join(setupFolder(env), `${record.app}.d`, hashOf(path).slice(0, 16));

type LineThing = ThingOf<'line'>;

export function hasLine(_: Machine, { path, line }: LineThing): boolean {
  const lines = readTextIfThere(path, SETUP_FILE_MAX)?.split('\n') ?? [];
  return lines.includes(line);
}

/** Appends a line, unless it is there. */
export function makeLine(machine: Machine, { path, line }: LineThing, entry: MadeThing): void {
  const text = readTextIfThere(path, SETUP_FILE_MAX);
  if (text?.split('\n').includes(line)) return;
  const added = `${text === undefined || text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
  entry.folders ??= missingAbove(dirname(path));
  entry.added = added;
  entry.isNew ??= text === undefined;
  saveRecord(machine);
  makeOpenFolder(dirname(path));
  writeWhole(path, `${text ?? ''}${added}`, 0o644);
}

/** Takes the line out again, and the file if nothing else is in it and setup made it. */
export function undoLine(_: Machine, { fields, added, isNew, folders = [] }: MadeThing): undefined {
  const { path = '', line = '' } = fields;
  const text = readTextIfThere(path, SETUP_FILE_MAX);
  // Someone else had the same line.
  if (text === undefined || added === undefined) return undefined;
  const without = text.endsWith(added)
    ? text.slice(0, -added.length)
    : `\n${text}`.replace(`\n${line}\n`, '\n').slice(1);
  if (without === '' && isNew) removeIfThere(path);
  else if (without !== text) writeWhole(path, without, 0o644);
  removeEmpty(folders);
  return undefined;
}
