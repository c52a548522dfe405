/** What the versions that a rollback goes to meet in the database, which is not rolled back. */

import type { Migration, SchemaWay } from '@runner/common/apps/database';
import { migrationsOn } from '@runner/common/apps/migrations-on';
import type { PlannedVerb } from '@runner/common/apps/plans';
import type { AppState } from '@runner/common/apps/state';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { word } from '@runner/common/text/shell';
import { type MigratedApp, wayBackTo } from '../database/way-back.ts';
import { isRestart, type KeptMove } from '../journal/after-rollback.ts';
import { planRollback } from './plan.ts';

/** What a version that a rollback goes to meets in the database. */
export interface MetSchema {
  readonly verdict: SchemaWay;
  /** The rollback simply goes back. */
  readonly open: boolean;
  readonly reasons: string[];
  readonly words: string;
  /** The same with the ways on. */
  readonly refusal: string;
}

/** undefined: no migration is between the version and the database. A restore is no mere restart. */
export function metBy(
  own: MigratedApp,
  move: KeptMove,
  all: readonly Migration[],
  isRestored = false,
): MetSchema | undefined {
  const way = isRestart(move) && !isRestored ? undefined : wayBackTo(own, move.to, all);
  if (way === undefined) return undefined;
  const { verdict, said: words, fix } = way;
  const open = verdict === 'proven' || verdict === 'additive';
  const first = fix === null ? '' : `; ${fix.does}: ${fix.command}`;
  const anyway = `runner rollback ${word(own.app.app)} --accept-schema ${word(move.to.version)}`;
  const refusal = `${words}${first}; to go back anyway: ${anyway}`;
  return { verdict, open, reasons: [...way.reasons], words, refusal };
}

const ALL = { to: undefined, instance: undefined };

/** What `runner rollback` would meet, at its worst; undefined: nothing, or it has nowhere to go. */
export function metByRollback(
  own: MigratedApp,
  moves: readonly KeptMove[] = unlessFailure(() => planRollback(own.paths, own.app, ALL).moves, []),
): MetSchema | undefined {
  const all = migrationsOn(own);
  const met = moves.flatMap((move) => metBy(own, move, all) ?? []);
  const of = (way: SchemaWay) => met.find(({ verdict }) => verdict === way);
  return of('broken') ?? of('unknown') ?? met[0];
}

/** `runner rollback shop` and, where it refuses or asks, why. */
export function undoWords(own: MigratedApp, moves?: readonly KeptMove[]): string {
  const names = moves?.map(({ instance }) => instance) ?? Object.keys(own.app.instances);
  const commands = commandsFor(own.app, names, 'rollback');
  const wordsOf = (command: string, at: number) => {
    const met = metByRollback(own, moves && commands.length > 1 ? moves.slice(at, at + 1) : moves);
    const where = command.slice(`runner rollback ${word(own.app.app)}`.length);
    return `${command}${!met || met.open ? '' : `, but ${met.refusal}${where}`}`;
  };
  return commands.map(wordsOf).join('; ');
}

/** One command where it is about all that is active, else one for each of these instances. */
export function commandsFor(
  app: AppState,
  names: readonly string[],
  verb: PlannedVerb,
  options = '',
): string[] {
  const command = `runner ${verb} ${word(app.app)}${options}`;
  const isAll = Object.entries(app.instances).every(
    ([name, { current }]) => !current || names.includes(name),
  );
  if (names.length > 0 && isAll) return [command];
  return names.map((name) => `${command} --instance ${word(name)}`);
}
