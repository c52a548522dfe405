/** Writing how an operation ended: the one place where an end is recorded. */
import type { AppState } from '@runner/common/apps/state';
import type { DeployEvent } from '@runner/common/audit/events';
import { kindOf, type LogRecord } from '@runner/common/audit/record';
import { recordAnyway } from '../journal/events.ts';
import { secretsStarted, writeEnd } from '../journal/journal.ts';
import type { Operation } from '../journal/operation.ts';

export interface OperationEnding {
  readonly events: readonly DeployEvent[];
  /** Instances run with other secrets now. */
  readonly hasStarted: boolean;
  /** Nothing else says what an operator wanted: a state that cannot be written is a failure. */
  readonly mustSave?: boolean;
  /** What the state becomes; `at` is the time of the first event as recorded. */
  state(app: AppState, at: string): AppState;
}

/**
 * Records the events, sends them to the chats, and writes the state, in this order: from the events a
 * state that could not be written is corrected, and a kill between announces them once more rather
 * than never. `written` are records of the operation that are in the log already. Throws a Failure
 * where `mustSave`.
 */
export function conclude(
  op: Operation,
  { events, hasStarted, state, mustSave = false }: OperationEnding,
  written: readonly LogRecord[] = [],
): void {
  const at = recordEnd(op, events, written);
  if (hasStarted) secretsStarted(op);
  writeEnd(op, (app) => state(app, at), mustSave);
}

/** Records the events that are not yet `written`, and sends all. Returns the time of the first as recorded. */
export function recordEnd(
  op: Operation,
  events: readonly DeployEvent[],
  written: readonly LogRecord[] = [],
): string {
  op.ending();
  const known = events.map((event) => written.find((record) => isSame(record, event)));
  const missing = recordAnyway(
    op,
    events.filter((_, at) => !known[at]),
  )[Symbol.iterator]();
  const recorded = known.map((record) => record ?? missing.next().value) as DeployEvent[];
  for (const event of recorded) op.notifier.send(event);
  return recorded[0]?.timestamp ?? op.io.now().toISOString();
}

/** As of 0.1.0 one record stands for all instances. */
function isSame(record: LogRecord, { event_type, instance }: DeployEvent): boolean {
  if (kindOf(record) !== event_type) return false;
  return record.instance === instance || !Array.isArray(record.instances);
}
