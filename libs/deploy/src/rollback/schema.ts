/** A rollback over migrations: the database is not rolled back, so the version must work with it. */
import type { Migration } from '@runner/common/apps/state';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { requireBackup } from '../database/restore.ts';
import { wayBackTo } from '../database/way-back.ts';
import { isRestart, type KeptMove } from '../journal/after-rollback.ts';
import { type Operation, say } from '../journal/operation.ts';

/** What an operator says to a version that may not work with the database. */
export interface SchemaChoice {
  /** The version, which is accepted as it is. */
  readonly acceptSchema?: string | undefined;
  /** The backup of the database that is restored with it. */
  readonly database?: string | undefined;
  /** Asks on a terminal; absent where no one can answer. */
  confirm?(words: string): boolean;
}

/** Reasons that are shown. */
const SHOWN = 5;

/** Throws `schema_changed`, with the way to restore the database; `backup_unreadable`. */
export function refuseSchema(
  op: Operation,
  moves: readonly KeptMove[],
  { acceptSchema, database, confirm }: SchemaChoice,
): void {
  const all = migrationsIn(op, database);
  for (const move of moves) {
    const { version, release, commit } = move.to;
    if (isRestart(move) && database === undefined) continue;
    const way = wayBackTo(op, move.to, all);
    if (way === undefined) continue;
    const { verdict, reasons, fix } = way;
    const why = reasons.length === 0 ? '' : `: ${reasons.slice(0, SHOWN).join('; ')}`;
    const words = `${way.words}${why}`;
    const isAccepted =
      acceptSchema !== undefined &&
      (acceptSchema === version || acceptSchema === release || isCommit(acceptSchema, commit));
    if (verdict === 'proven' || verdict === 'additive' || isAccepted) say(op, words);
    else if (verdict === 'unknown' && (op.trigger === 'watch' || confirm?.(words))) say(op, words);
    else {
      const first = fix === null ? '' : `; ${fix.does}: ${fix.command}`;
      const anyway = `runner rollback ${word(op.app.app)} --accept-schema ${word(version)}`;
      throw new Failure('schema_changed', `${words}${first}; to go back anyway: ${anyway}`);
    }
  }
}

/** Those that are in the database, or will be once a backup is restored; the others are gone. */
function migrationsIn({ paths, app }: Operation, database: string | undefined): Migration[] {
  const { migrations = [] } = app;
  if (database === undefined) return migrations;
  const known = requireBackup(paths, app, database).migrations;
  const now = new Date().toISOString();
  return migrations.map(({ gone, ...each }) =>
    known.includes(each.deploy_id) ? each : { ...each, gone: gone ?? now },
  );
}

function isCommit(text: string, commit: string): boolean {
  return /^[0-9a-f]{7,40}$/.test(text) && commit.startsWith(text);
}
