/** The schema of a database as it is, and what has become of it. */
import type { SchemaWay } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import type { DatabaseAddress } from './address.ts';
import { type Catalogue, readCatalogue } from './catalogue.ts';
import { compareCatalogues } from './compare.ts';

/** What a migration does to a schema, and so whether a version from before still works with it. */
export interface SchemaFinding {
  readonly verdict: SchemaWay;
  /** In words. */
  readonly reasons: readonly string[];
  /** It changes nothing. */
  readonly isSame?: boolean;
}

/** The schema at a moment; without a catalogue it could not be read, and why. */
export interface SchemaLook {
  readonly catalogue?: Catalogue;
  readonly text: string;
}

export async function lookAtSchema(address: DatabaseAddress): Promise<SchemaLook> {
  try {
    const catalogue = await readCatalogue(address);
    return { catalogue, text: JSON.stringify(catalogue) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { text: error.message };
  }
}

/** What has changed between two looks. */
export function sinceLook(before: SchemaLook, after: SchemaLook): SchemaFinding {
  if (!before.catalogue || !after.catalogue)
    return { verdict: 'unknown', reasons: [before.catalogue ? after.text : before.text] };
  const found = compareCatalogues(before.catalogue, after.catalogue, []);
  return { ...found, isSame: before.text === after.text };
}

const ORDER: readonly SchemaWay[] = ['additive', 'unknown', 'broken'];

/** Both together: what one of them finds counts. */
export function worseOf(one: SchemaFinding, other: SchemaFinding): SchemaFinding {
  const verdict = ORDER[Math.max(ORDER.indexOf(one.verdict), ORDER.indexOf(other.verdict))];
  const isSaid = (words: string) => one.reasons.some((each) => each.includes(words));
  return {
    verdict: verdict as SchemaWay,
    reasons: [...one.reasons, ...other.reasons.filter((words) => !isSaid(words))],
    isSame: Boolean(one.isSame && other.isSame),
  };
}
