/** Runs a migration on a scratch copy of the schema and says what it means for the old version. */
import { statSync } from 'node:fs';
import { Failure } from '@runner/common/foundation/failure';
import type { DatabaseAddress } from './address.ts';
import { readCatalogue, schemaText } from './catalogue.ts';
import { compareCatalogues, gainingTables, type SchemaVerdict } from './compare.ts';
import { watchRows } from './rows.ts';
import type { SchemaFinding } from './schema.ts';
import { COPY_MAX, makeScratch } from './scratch.ts';

export interface SchemaRehearsal {
  readonly address: DatabaseAddress;
  /** Folder for the copy of a file. */
  readonly temporary: string;
  /** Runs the migration of the app on the database at a URL; `words` say why it failed. */
  run(url: string): Promise<{ ok: boolean; words: string }>;
  readonly signal: AbortSignal;
  /** On a copy with all rows; each tool may take this long, in ms. */
  readonly full?: { readonly timeout: number } | undefined;
  /** Tries the version before on the migrated copy; absent: there is no command for it. */
  check?(url: string): Promise<{ ok: boolean; words: string }>;
}

/** What a migration does to a copy. */
export interface RehearsalResult extends SchemaVerdict, Pick<SchemaFinding, 'isSame' | 'isProven'> {
  /** It does not change the schema; undefined: no one knows. */
  readonly isSameSchema?: boolean;
  /** It failed there, and so would on the database. */
  readonly hasFailed?: boolean;
  /** Why it did not take place. */
  readonly skipped?: string;
  /** Whether it may change rows; undefined: no one knows. */
  readonly touchesRows?: boolean;
  /** Tables whose rows it changes, perhaps in their new columns alone. */
  readonly gaining?: readonly string[];
}

const plainly = (verdict: SchemaVerdict['verdict'], reason: string): RehearsalResult => ({
  verdict,
  reasons: [reason],
});

/** One run on a copy of its own. undefined: the migration failed on the rows of ours. */
async function attempt(
  rehearsal: SchemaRehearsal,
  isSeeded: boolean,
  gaining?: readonly string[],
): Promise<RehearsalResult | undefined> {
  const { address, temporary, run, signal, full } = rehearsal;
  const limits = { temporary, signal, ...(full && { isFull: true, timeout: full.timeout }) };
  const scratch = await makeScratch(address, limits);
  try {
    const copied = await readCatalogue(scratch.address, { signal });
    using watch = await watchRows(scratch.address, copied, {
      signal,
      isSeeded,
      production: address.name,
      gaining,
    });
    // The rows of ours have moved sequences.
    const before = isSeeded ? await readCatalogue(scratch.address, { signal }) : copied;
    const { ok, words } = await run(watch.url);
    if (signal.aborted) throw new Failure('interrupted', 'interrupted');
    const problem = watch.problem(ok);
    if (problem) return { ...plainly('unknown', problem), skipped: problem };
    if (!ok && isSeeded) return undefined;
    if (!ok) return { ...plainly('broken', `the rehearsal failed: ${words}`), hasFailed: true };
    const after = await readCatalogue(scratch.address, { signal });
    const isLarge = !full && address.kind === 'sqlite' && statSync(address.name).size > COPY_MAX;
    const isUnsure = isLarge || watch.mayChangeMore(after);
    const touched = isUnsure ? 'unknown' : await watch.touched(after);
    const isSameSchema = schemaText(before) === schemaText(after);
    const verdict = compareCatalogues(before, after, touched);
    const isSame = isSameSchema && verdict.reasons.length === 0 && touched.length === 0;
    const gained = touched === 'unknown' ? [] : gainingTables(before, after, touched);
    const touchesRows = touched.length > 0;
    const found = { ...verdict, isSame, isSameSchema, touchesRows, gaining: gained };
    return isSame || !full ? found : await tried(rehearsal, scratch.address, found);
  } finally {
    await scratch.drop();
  }
}

/** Tries the version before on the migrated copy. A check that writes nothing proves nothing. */
async function tried(
  { address, check, signal, full }: SchemaRehearsal,
  copy: DatabaseAddress,
  found: RehearsalResult,
): Promise<RehearsalResult> {
  const add = (words: string) => ({ ...found, reasons: [...found.reasons, words] });
  if (!check) return add('the version before has no check: it was not tried');
  const limits = { signal, timeout: full?.timeout };
  const now = await readCatalogue(copy, limits);
  using watch = await watchRows(copy, now, {
    ...limits,
    isSeeded: false,
    production: address.name,
  });
  const { ok, words } = await check(watch.url);
  if (signal.aborted) throw new Failure('interrupted', 'interrupted');
  if (!ok) return { ...found, verdict: 'broken', reasons: [words, ...found.reasons] };
  const touched = await watch.touched(await readCatalogue(copy, limits));
  if (touched.length === 0 || watch.problem(ok))
    return add('the check of the version before writes nothing: it proves nothing');
  // It does not try everything that may be missed.
  if (found.verdict === 'broken') return add('the check of the version before still passes');
  return { ...found, isProven: true };
}

/**
 * Once more on PostgreSQL, if it may have filled new columns alone: then an UPDATE of others is seen. The
 * first run cannot look for it: a column that a trigger names can be neither removed nor retyped.
 */
async function onlyFilling(
  rehearsal: SchemaRehearsal,
  first: RehearsalResult | undefined,
): Promise<RehearsalResult | undefined> {
  const { gaining = [], verdict } = first ?? {};
  const isWorthIt = rehearsal.address.kind === 'postgres' && verdict === 'unknown';
  if (!isWorthIt || gaining.length === 0) return undefined;
  const again = await attempt(rehearsal, true, gaining);
  return again?.verdict === 'additive' ? again : undefined;
}

/** Rehearses a migration; a problem of the tools is the verdict `unknown`. Throws only `interrupted`. */
export async function rehearseSchema(rehearsal: SchemaRehearsal): Promise<RehearsalResult> {
  try {
    const isServer = rehearsal.address.kind !== 'sqlite' && !rehearsal.full;
    const seeded = isServer ? await attempt(rehearsal, true) : undefined;
    const verdict =
      (await onlyFilling(rehearsal, seeded)) ?? seeded ?? (await attempt(rehearsal, false));
    return verdict ?? plainly('unknown', 'the rehearsal has no result');
  } catch (error) {
    if (rehearsal.signal.aborted || !(error instanceof Failure)) throw error;
    const why = error.message;
    return { ...plainly('unknown', `the rehearsal is not possible: ${why}`), skipped: why };
  }
}
