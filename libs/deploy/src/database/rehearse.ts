/** Runs a migration on a scratch copy of the schema and says what it means for the old version. */
import { statSync } from 'node:fs';
import { Failure } from '@runner/common/foundation/failure';
import type { DatabaseAddress } from './address.ts';
import { readCatalogue } from './catalogue.ts';
import { compareCatalogues, type SchemaVerdict } from './compare.ts';
import { watchRows } from './rows.ts';
import { COPY_MAX, makeScratch } from './scratch.ts';

/** What is rehearsed. */
export interface SchemaRehearsal {
  readonly address: DatabaseAddress;
  /** Folder for the copy of a file. */
  readonly temporary: string;
  /** Runs the migration of the app on the database at a URL; `words` say why it failed. */
  run(url: string): Promise<{ ok: boolean; words: string }>;
  readonly signal: AbortSignal;
}

/** What a migration does to a copy. */
export interface RehearsalResult extends SchemaVerdict {
  /** It changes nothing; undefined: no one knows. */
  readonly isSame?: boolean;
  /** It does not change the schema; undefined: no one knows. */
  readonly isSameSchema?: boolean;
}

const plainly = (verdict: SchemaVerdict['verdict'], reason: string): RehearsalResult => ({
  verdict,
  reasons: [reason],
  rewrites: [],
});

/** One run on a copy of its own. undefined: the migration failed on the rows of ours. */
async function attempt(
  rehearsal: SchemaRehearsal,
  isSeeded: boolean,
): Promise<RehearsalResult | undefined> {
  const { address, temporary, run, signal } = rehearsal;
  const scratch = await makeScratch(address, { temporary, signal });
  try {
    const before = await readCatalogue(scratch.address, { signal });
    const watch = await watchRows(scratch.address, before, {
      signal,
      isSeeded,
      production: address.name,
    });
    try {
      const { ok, words } = await run(watch.url);
      if (signal.aborted) throw new Failure('interrupted', 'interrupted');
      const problem = watch.problem();
      if (problem) return plainly('unknown', problem);
      if (!ok) return isSeeded ? undefined : plainly('broken', `the rehearsal failed: ${words}`);
      const after = await readCatalogue(scratch.address, { signal });
      const isLarge = address.kind === 'sqlite' && statSync(address.name).size > COPY_MAX;
      const touched = isLarge ? 'unknown' : await watch.touched(after);
      const isSameSchema = JSON.stringify(before) === JSON.stringify(after);
      const isSame = isSameSchema && touched.length === 0;
      return { ...compareCatalogues(before, after, touched), isSame, isSameSchema };
    } finally {
      watch.close();
    }
  } finally {
    await scratch.drop();
  }
}

/** Rehearses a migration; a problem of the tools is the verdict `unknown`. Throws only `interrupted`. */
export async function rehearseSchema(
  rehearsal: SchemaRehearsal,
): Promise<RehearsalResult & { readonly ms: number }> {
  const begin = performance.now();
  const ms = () => Math.round(performance.now() - begin);
  try {
    const isServer = rehearsal.address.kind !== 'sqlite';
    const seeded = isServer ? await attempt(rehearsal, true) : undefined;
    const verdict = seeded ?? (await attempt(rehearsal, false));
    return { ...(verdict ?? plainly('unknown', 'the rehearsal has no result')), ms: ms() };
  } catch (error) {
    if (rehearsal.signal.aborted || !(error instanceof Failure)) throw error;
    return { ...plainly('unknown', `the rehearsal is not possible: ${error.message}`), ms: ms() };
  }
}
