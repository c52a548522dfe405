/** What the records of an operation's end say of it: times, gap, migration, versions. */
import type { Migration } from '@runner/common/apps/database';
import type { ChangeSummary } from '@runner/common/apps/deployed';
import { findApp } from '@runner/common/apps/store';
import type { DeployEvent } from '@runner/common/audit/events';
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

/** What it has done to the database; undefined if it has changed nothing, or no version was there before. */
export function migrationBy({ paths, app, deployId }: Operation): Migration | undefined {
  const { migrations = [] } = findApp(paths, app.app) ?? app;
  return migrations.find(({ deploy_id, first }) => deploy_id === deployId && !first);
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
