/** A rollback over migrations: the database is not rolled back, so the version must work with it. */
import { migrationsOn } from '@runner/common/apps/migrations-on';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { requireBackup } from '../database/restore.ts';
import { refuseInUse } from '../database/sharing.ts';
import type { KeptMove } from '../journal/after-rollback.ts';
import { type Operation, say } from '../journal/operation.ts';
import { type MetSchema, metBy } from './met.ts';
import { planRollback, type RollbackTarget } from './plan.ts';

/** What an operator says to a version that may not work with the database. */
export interface SchemaChoice {
  /** The version, which is accepted as it is. */
  readonly acceptSchema?: string | undefined;
  /** The backup of the database that is restored with it. */
  readonly database?: string | undefined;
  /** Asks on a terminal; absent where no one can answer. */
  confirm?(words: string): boolean;
}

/** Throws `schema_changed`, with the way to restore the database, and what `metSchemas` throws. */
export function refuseSchema(
  op: Operation,
  moves: readonly KeptMove[],
  choice: SchemaChoice & RollbackTarget,
): void {
  for (const met of metSchemas(op, moves, choice)) {
    const { verdict, words, refusal } = met;
    const isOpen = met.open || met.isAccepted;
    const isTried = verdict === 'unknown' && (op.trigger === 'watch' || choice.confirm?.(words));
    if (!isOpen && !isTried)
      throw new Failure('schema_changed', `${refusal}${repeated(op, moves, choice)}`);
    say(op, words);
  }
}

/** The options that the command has to have again, to do what was refused. */
export function repeated(
  { paths, app }: Pick<Operation, 'paths' | 'app'>,
  moves: readonly KeptMove[],
  { to, instance, database }: SchemaChoice & RollbackTarget,
): string {
  const plain = unlessFailure(
    () => planRollback(paths, app, { to: undefined, instance }),
    undefined,
  );
  const isPlain = moves.every(({ instance: name, to: { release } }) =>
    plain?.moves.some((each) => each.instance === name && each.to.release === release),
  );
  const options = { to: isPlain ? undefined : to, instance, database };
  return Object.entries(options)
    .map(([name, value]) => (value === undefined ? '' : ` --${name} ${word(value)}`))
    .join('');
}

/**
 * For each version with migrations between it and the database. Throws `backup_unreadable`,
 * `database_in_use`, `version_not_found`.
 */
export function metSchemas(
  about: Pick<Operation, 'io' | 'paths' | 'app'>,
  moves: readonly KeptMove[],
  { acceptSchema: accepted, database }: SchemaChoice,
): (MetSchema & { readonly isAccepted: boolean })[] {
  const { paths, app } = about;
  const isAccepted = ({ version, release, commit }: KeptMove['to']) =>
    accepted !== undefined &&
    (accepted === version || accepted === release || isCommit(accepted, commit));
  if (accepted !== undefined && !moves.some(({ to }) => isAccepted(to))) {
    const goals = [...new Set(moves.map(({ to }) => to.version))].join(', ');
    throw new Failure(
      'version_not_found',
      `--accept-schema ${accepted.slice(0, 80)} is not the version that this goes to: ${goals}`,
    );
  }
  const backup = database === undefined ? undefined : requireBackup(paths, app, database);
  if (backup) refuseInUse(about, app.app, backup.database);
  const all = migrationsOn(about, backup);
  return moves.flatMap((move) => {
    const met = metBy(about, move, all, backup !== undefined);
    return met ? [{ ...met, isAccepted: isAccepted(move.to) }] : [];
  });
}

function isCommit(text: string, commit: string): boolean {
  return /^[0-9a-f]{7,40}$/.test(text) && commit.startsWith(text);
}
