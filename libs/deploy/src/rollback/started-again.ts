/** What a rollback with the database starts again, although it stays at its version. */
import { isStopped } from '@runner/common/apps/operator';
import { isRestorable } from '../instances/kept-file.ts';
import type { KeptMove } from '../journal/after-rollback.ts';
import type { Operation } from '../journal/operation.ts';
import { metSchemas } from './schema.ts';

/** What stays at its version is stopped for the database, too: it starts again if it works with that. */
export function startedAgain(
  op: Operation,
  planned: readonly KeptMove[],
  database: string | undefined,
): KeptMove[] {
  if (database === undefined) return [];
  return Object.entries(op.app.instances).flatMap(([instance, { current }]) => {
    if (!current || planned.some((move) => move.instance === instance)) return [];
    if (isStopped(op.app, instance) || !isRestorable(op.paths, op.app.app, current)) return [];
    const move = { instance, from: current, to: current };
    const [met] = metSchemas(op, [move], { database });
    if (!met || met.open) return [move];
    op.reporter.note(`${instance} is stopped, and stays so: ${met.words}`);
    return [];
  });
}
