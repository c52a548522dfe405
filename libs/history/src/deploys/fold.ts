/** Combines the records of the audit log into deploys. */

import type { SchemaWay } from '@runner/common/apps/database';
import type { ChangeSummary } from '@runner/common/apps/deployed';
import { SCHEMA_WORDS } from '@runner/common/apps/schema-way';
import {
  isRestarted,
  kindOf,
  type LogRecord,
  millisecondsOf,
  projectOf,
  textOf,
} from '@runner/common/audit/record';
import { timeOfIso } from '@runner/common/text/time';
import type { PastDeploy, PastMigration, StageDuration } from './deploy.ts';

/** Add the records, oldest first; then read `all`. */
export class Deploys {
  /** In the order of the log. */
  readonly all: PastDeploy[] = [];
  /** Those of which an end came first. */
  readonly unstarted = new Set<PastDeploy>();
  readonly #byId = new Map<string, PastDeploy>();

  add(record: LogRecord): void {
    const kind = kindOf(record);
    if (kind === 'DeployStarted') this.#start(record);
    else if (kind === 'DeploySuccess' || kind === 'DeployFailure') this.#end(record, kind);
    else if (kind === 'RollbackSuccess') this.#rollBack(record);
  }

  #find(record: LogRecord): PastDeploy | undefined {
    return this.#byId.get(keyOf(record));
  }

  #make(record: LogRecord, start: number): PastDeploy {
    const made: PastDeploy = {
      timestamp: Number.isNaN(start) ? '' : new Date(start).toISOString(),
      project: String(projectOf(record) ?? ''),
      instances: [],
      result: 'unknown',
      trigger: fieldOf(record, 'trigger'),
      source: fieldOf(record, 'source'),
      deploy_id: fieldOf(record, 'deploy_id'),
      byHand: false,
      switched: false,
      steps: [],
      start,
      ...described(record),
    };
    this.all.push(made);
    this.#byId.set(keyOf(record), made);
    return made;
  }

  #start(record: LogRecord): void {
    const known = this.#find(record);
    // Without an id, each deploy of an app has the same key.
    const same = known?.result === 'unknown' ? known : undefined;
    const deploy = same ?? this.#make(record, timeOf(record));
    addInstance(deploy, record);
  }

  #end(record: LogRecord, kind: 'DeploySuccess' | 'DeployFailure'): void {
    const found = this.#find(record);
    // Without an id, an end of another version is that of another deploy, whose start was not recorded.
    const isOther =
      found?.deploy_id === null && (found.version ?? null) !== fieldOf(record, 'version');
    const known = isOther && found.end !== undefined ? undefined : found;
    // `fetch` could not check the branch; nothing was deployed.
    if (!known && kind === 'DeployFailure' && record.stage === 'fetch') return;
    const duration = millisecondsOf(record, 'duration_ms');
    const deploy = known ?? this.#make(record, timeOf(record) - (duration ?? 0));
    if (!known) this.unstarted.add(deploy);
    addInstance(deploy, record);
    Object.assign(deploy, described(record));
    deploy.end = timeOf(record);
    deploy.duration_ms = duration ?? null;
    deploy.gap_ms = millisecondsOf(record, 'gap_ms') ?? null;
    if (Array.isArray(record.steps)) deploy.steps = record.steps.filter(isStep);
    if (kind === 'DeploySuccess') {
      if (deploy.result === 'unknown') deploy.result = 'success';
      deploy.switched = true;
      return;
    }
    deploy.byHand ||= !known && record.from_version !== undefined;
    deploy.result = resultOf(record);
    deploy.stage = fieldOf(record, 'stage');
    deploy.switched =
      !deploy.byHand && (typeof record.rolled_back === 'boolean' || isFirstSwitched(deploy));
    deploy.cause = fieldOf(record, 'cause') ?? fieldOf(record, 'error');
  }

  #rollBack(record: LogRecord): void {
    const known = this.#find(record);
    if (known && !known.byHand) {
      known.restored = timeOf(record);
      return;
    }
    // Instances that went different ways are a row each.
    const way = `${keyOf(record)} ${textOf(record, 'from_version')} ${textOf(record, 'version')}`;
    const deploy = this.#byId.get(way) ?? this.#make(record, timeOf(record));
    this.#byId.set(way, deploy);
    addInstance(deploy, record);
    const from = fieldOf(record, 'from_version');
    const isRestart = isRestarted(record);
    deploy.byHand = true;
    deploy.result = 'success';
    deploy.trigger = isRestart ? 'restart' : 'rollback';
    deploy.end = timeOf(record);
    deploy.previous_version = isRestart ? null : from;
    deploy.duration_ms = millisecondsOf(record, 'duration_ms') ?? null;
  }
}

/** Whether a first version failed after the switch: there was nothing to roll back to. */
function isFirstSwitched({ previous_version: previous, stage, steps }: PastDeploy): boolean {
  return !previous && stage !== 'switch' && steps.some((step) => step.stage === 'switch');
}

/**
 * Older versions wrote no `deploy_id`: one deploy of an app at a time. Another tool may give its deploy
 * the ID of one of runner's.
 */
function keyOf(record: LogRecord): string {
  return `${projectOf(record)} ${textOf(record, 'deploy_id')} ${textOf(record, 'source')}`;
}

/** Fields that a later record of the same deploy may update. */
function described(record: LogRecord) {
  const names = ['version', 'previous_version', 'commit', 'subject', 'author', 'user'] as const;
  const known = names.map((name) => [name, fieldOf(record, name)] as const);
  const committed = timeOfIso(textOf(record, 'committed_at'));
  return {
    ...(Object.fromEntries(known.filter(([, value]) => value !== null)) as Partial<PastDeploy>),
    ...(!Number.isNaN(committed) && { committed }),
    ...(isChanges(record.changes) && { changes: record.changes }),
    ...databaseOf(record),
  };
}

function databaseOf(record: LogRecord): { database?: PastMigration } {
  const [verdict, restored] = [textOf(record, 'migration'), textOf(record, 'database_backup')];
  const isKnown = Object.hasOwn(SCHEMA_WORDS, verdict);
  if (!isKnown && restored === '') return {};
  const reasons = Array.isArray(record.migration_reasons) ? record.migration_reasons : [];
  const restore = textOf(record, 'migration_restore');
  return {
    database: {
      ...(isKnown && { verdict: verdict as SchemaWay }),
      reasons: reasons.filter(isText),
      ...(restore !== '' && { restore }),
      ...(restored !== '' && { restored }),
    },
  };
}

function isChanges(value: unknown): value is ChangeSummary {
  const { subjects, authors } = (value ?? {}) as Partial<ChangeSummary>;
  return [subjects, authors].every((each) => Array.isArray(each) && each.every(isText));
}

const isText = (value: unknown): value is string => typeof value === 'string';

function addInstance(deploy: PastDeploy, record: LogRecord): void {
  for (const name of (textOf(record, 'instance') || 'default').split(','))
    if (!deploy.instances.includes(name)) deploy.instances.push(name);
}

function resultOf({ interrupted, rolled_back }: LogRecord): PastDeploy['result'] {
  if (interrupted === true) return 'interrupted';
  return rolled_back === true ? 'rolled_back' : 'failed';
}

function timeOf(record: LogRecord): number {
  return timeOfIso(textOf(record, 'timestamp'));
}

function fieldOf(record: LogRecord, name: string): string | null {
  return textOf(record, name) || null;
}

function isStep(step: unknown): step is StageDuration {
  const { stage, ms } = (step ?? {}) as Partial<StageDuration>;
  return typeof stage === 'string' && typeof ms === 'number' && Number.isFinite(ms) && ms >= 0;
}
