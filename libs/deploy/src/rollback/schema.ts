/** A rollback over migrations: the database is not rolled back, so the version must work with it. */
import type { Migration, SchemaWay } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { isRestart, type KeptMove } from '../journal/after-rollback.ts';
import { type Operation, say } from '../journal/operation.ts';

/** What an operator says to a version that may not work with the database. */
export interface SchemaChoice {
  /** The version, which is accepted as it is. */
  readonly acceptSchema?: string | undefined;
  /** Asks on a terminal; absent where no one can answer. */
  confirm?(words: string): boolean;
}

/** Throws `schema_changed`, with the way to restore the database. */
export function refuseSchema(
  op: Operation,
  moves: readonly KeptMove[],
  { acceptSchema, confirm }: SchemaChoice,
): void {
  for (const move of moves) {
    const crossed = isRestart(move) ? [] : crossedBy(op, move);
    const way = worstOf(crossed);
    if (way === undefined) continue;
    const { app } = op.app;
    const { version, release, commit } = move.to;
    const words = wordsFor(version, crossed, way);
    const isAccepted =
      acceptSchema !== undefined &&
      (acceptSchema === version || acceptSchema === release || isCommit(acceptSchema, commit));
    if (way === 'additive' || isAccepted) say(op, words);
    else if (way === 'unknown' && (op.trigger === 'watch' || confirm?.(words))) say(op, words);
    else {
      const restore = crossed.find(({ verdict }) => verdict === way)?.restore;
      const first = restore === undefined ? '' : `; to restore what was before: ${restore}`;
      const anyway = `runner rollback ${word(app)} --accept-schema ${word(version)}`;
      throw new Failure('schema_changed', `${words}${first}; to go back anyway: ${anyway}`);
    }
  }
}

/** The migrations since a version was deployed, the newest first. */
function crossedBy({ app: { migrations = [] } }: Operation, { to }: KeptMove): Migration[] {
  return migrations.filter(({ at }) => at > to.deployed_at).reverse();
}

function worstOf(crossed: readonly Migration[]): SchemaWay | undefined {
  const found = new Set(crossed.map(({ verdict }) => verdict));
  return (['broken', 'unknown', 'additive'] as const).find((way) => found.has(way));
}

function wordsFor(version: string, crossed: readonly Migration[], way: SchemaWay): string {
  const own = crossed.filter(({ verdict }) => verdict === way);
  const since = own.map((each) => each.version).join(', ');
  const reasons = own.flatMap((each) => each.reasons).slice(0, 5);
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  if (way === 'additive')
    return `the database stays as ${since} has made it, which ${version} works with${why}`;
  if (way === 'broken')
    return `${version} does not work with the database that ${since} has changed${why}`;
  return `whether ${version} works with the database that ${since} has changed is not known${why}`;
}

function isCommit(text: string, commit: string): boolean {
  return /^[0-9a-f]{7,40}$/.test(text) && commit.startsWith(text);
}
