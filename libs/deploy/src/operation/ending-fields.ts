/** What the records of an operation's end say of it: times, gap, migration, versions. */
import type { ChangeSummary } from '@runner/common/apps/deployed';
import type { DeployEvent } from '@runner/common/audit/events';
import { migrationBy } from '../database/done.ts';
import type { Seen } from '../instances/probe.ts';
import { previousOfAll } from '../instances/target.ts';
import type { EventFields } from '../journal/events.ts';
import type { Deploy, Operation } from '../journal/operation.ts';

/** The version that an instance had before. */
export function previousFields({ app }: Pick<Deploy, 'app'>, instance: string): EventFields {
  const previous = previousOfAll(app, [instance])?.version;
  return previous === undefined ? {} : { previous_version: previous };
}

export function spent({ clock }: Operation): Pick<DeployEvent, 'steps'> & { duration_ms: number } {
  clock.stop();
  const steps = clock.steps();
  return { duration_ms: clock.total, ...(steps.length > 0 && { steps }) };
}

export function gapOf(seen: Seen | undefined): EventFields {
  return seen ? { gap_ms: seen.gap_ms } : {};
}

export function migrationOf(op: Operation): EventFields {
  const own = migrationBy(op);
  if (!own) return {};
  const { verdict: migration, reasons: migration_reasons, restore } = own;
  return { migration, migration_reasons, ...(restore && { migration_restore: restore }) };
}

/** The subject of a version's own commit: the newest of those that it brought. */
export function subjectOf(changes: ChangeSummary | undefined): { subject?: string } {
  const [subject] = changes?.subjects ?? [];
  return subject === undefined ? {} : { subject };
}
