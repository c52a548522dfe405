/** The schema of a database as it is, and what has become of it. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SchemaWay } from '@runner/common/apps/database';
import { onFailure } from '@runner/common/foundation/attempt';
import type { DatabaseAddress } from './address.ts';
import { type Catalogue, readCatalogue, schemaText } from './catalogue.ts';
import { compareCatalogues } from './compare.ts';
import { refused } from './context.ts';
import { query } from './query.ts';
import { isBookkeeping } from './scratch.ts';
import { quoted } from './seed.ts';
import { isUnmade } from './tools.ts';

/** What a migration does to a schema, and so whether a version from before still works with it. */
export interface SchemaFinding {
  readonly verdict: SchemaWay;
  readonly reasons: readonly string[];
  /** It changes nothing; undefined: no one knows. */
  readonly isSame?: boolean | undefined;
  /** The version before was tried on a copy, and works. */
  readonly isProven?: boolean | undefined;
}

/** The schema at a moment; without a catalogue it could not be read, and why. */
export interface SchemaLook {
  readonly catalogue?: Catalogue;
  readonly text: string;
  /** How many migrations the tables of their tools note; empty without such a table. */
  readonly notes: string;
}

export function lookAtSchema(address: DatabaseAddress): Promise<SchemaLook> {
  return schemaOf(address).catch(onFailure(({ message }) => ({ text: message, notes: '' })));
}

async function schemaOf(address: DatabaseAddress): Promise<SchemaLook> {
  // What migrates can make a file, but as a rule no folder.
  const isNew = isUnmade(address) && existsSync(dirname(address.name));
  const { entries } = isNew ? { entries: [] } : await readCatalogue(address);
  // The app itself may truncate a table meanwhile, which gives it another file.
  const catalogue = {
    entries: entries.map((each) => (each.kind === 'table' ? { ...each, made: '' } : each)),
  };
  const notes = await notesIn(address, catalogue);
  return { catalogue, text: schemaText(catalogue), notes };
}

/** Throws a StepFailure if there is no such database, or it lets no one in. */
export async function requireDatabase(address: DatabaseAddress): Promise<void> {
  const unreached = onFailure(({ message }) => {
    throw refused(
      `the database cannot be reached: ${message}; if the command creates it, use first, or rehearse: false`,
    );
  });
  await query(address, 'SELECT 1').catch(unreached);
}

async function notesIn(address: DatabaseAddress, { entries }: Catalogue): Promise<string> {
  const counts = entries
    .filter(({ kind, name }) => kind === 'table' && isBookkeeping(name))
    .map(({ name }) => `SELECT count(*) FROM ${quoted(address.kind, name)}`);
  return counts.length === 0 ? '' : (await query(address, counts.join(' UNION ALL '))).join(' ');
}

/** What has changed between two looks, of which rows are not known. */
export function sinceLook(before: SchemaLook, after: SchemaLook): SchemaFinding {
  if (!before.catalogue || !after.catalogue)
    return { verdict: 'unknown', reasons: [before.catalogue ? after.text : before.text] };
  const found = compareCatalogues(before.catalogue, after.catalogue, []);
  // The text of what was kept is perhaps an older version's.
  const [old, now] = [before, after].map(({ catalogue }) => catalogue && schemaText(catalogue));
  const isSame = old === now && before.notes === after.notes;
  return { ...found, isSame: isSame && found.reasons.length === 0 };
}

/**
 * What a migration that failed has left. One whose tool notes what it has done counts as undone where the notes
 * and the schema are as before, but on MySQL if it may have changed rows.
 */
export function leftByFailure(
  { kind }: DatabaseAddress,
  touchesRows: boolean | undefined,
  before: SchemaLook,
  after: SchemaLook,
): SchemaFinding {
  const found = sinceLook(before, after);
  const isUndone = found.isSame && after.notes !== '' && !(kind === 'mysql' && touchesRows);
  if (isUndone || touchesRows === false) return found;
  return {
    verdict: worseOfTwo(found.verdict, 'unknown'),
    reasons: [...found.reasons, 'it failed, and may have changed rows before'],
  };
}

const ORDER: readonly SchemaWay[] = ['additive', 'unknown', 'broken'];

export function worseOfTwo(one: SchemaWay, other: SchemaWay): SchemaWay {
  return ORDER.indexOf(one) > ORDER.indexOf(other) ? one : other;
}

/** What was expected and what has changed: the worse of them counts. */
export function worseOf(
  expected: SchemaFinding,
  before: SchemaLook,
  after: SchemaLook,
): SchemaFinding {
  const found = sinceLook(before, after);
  const isSaid = (words: string) => expected.reasons.some((each) => each.includes(words));
  const isNew = found.reasons.some((words) => !isSaid(words));
  // Where nothing was rehearsed, the tools' own tables tell whether anything was run.
  const wasSame = expected.isSame ?? after.notes !== '';
  return {
    verdict: worseOfTwo(expected.verdict, found.verdict),
    reasons: [...expected.reasons, ...found.reasons.filter((words) => !isSaid(words))],
    isSame: Boolean(found.isSame) && wasSame,
    isProven: Boolean(expected.isProven) && !isNew,
  };
}
