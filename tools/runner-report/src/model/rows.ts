/** The newest deploys, with links to their changes. */

import type { DatabaseBackup } from '@runner/common/apps/database';
import { migrationWords, restoredWords } from '@runner/common/apps/schema-way';
import { sizeText } from '@runner/common/text/size';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { causeLine } from './causes.ts';
import { cut } from './model.ts';
import { outcomeOf } from './outcomes.ts';

const ROWS = 200;
const COMMIT = /^[0-9a-f]{40,64}$/;

/** The host's page that compares two commits of an app; undefined if unknown. */
export type CompareOf = (project: string, from: string, to: string) => string | undefined;

/** The backup that a deploy made, if it is still there; undefined: no one knows. */
export type BackupOf = (project: string, id: string) => DatabaseBackup | null | undefined;

/** What only the registry knows of a deploy. */
export interface DeployFacts {
  readonly compareOf: CompareOf;
  readonly backupOf: BackupOf;
}

/** A row of the table of deploys. */
export type DeployRow = ReturnType<typeof rowsOf>['shown'][number];

/** Newest first. `history`: all known deploys, oldest first. */
export function rowsOf(
  history: readonly PastDeploy[],
  isIn: (deploy: PastDeploy) => boolean,
  { compareOf, backupOf }: DeployFacts,
) {
  const before = commitsBefore(history);
  const { shown, omitted } = cut(history.filter(isIn).reverse(), ROWS);
  /** The code host's page with the changes; empty if unknown. */
  const linkOf = (deploy: PastDeploy) => {
    const [from, to] = [before.get(deploy), deploy.commit ?? ''];
    if (from === undefined || from === to || !COMMIT.test(to) || deploy.byHand) return '';
    return compareOf(deploy.project, from, to) ?? '';
  };
  const rows = shown.map((deploy) => {
    return { ...rowOf(deploy), link: linkOf(deploy), database: databaseOf(deploy, backupOf) };
  });
  return { omitted, shown: rows };
}

/** The commit that was active when each deploy started. */
function commitsBefore(history: readonly PastDeploy[]): Map<PastDeploy, string> {
  const before = new Map<PastDeploy, string>();
  const active = new Map<string, string>();
  for (const deploy of history) {
    const known = active.get(deploy.project);
    if (known !== undefined) before.set(deploy, known);
    if (deploy.result === 'success' && COMMIT.test(deploy.commit ?? ''))
      active.set(deploy.project, deploy.commit as string);
  }
  return before;
}

const WORDS: Readonly<Record<PastDeploy['result'], string>> = {
  success: 'success',
  failed: 'failed',
  rolled_back: 'rolled back',
  interrupted: 'interrupted',
  running: 'running',
  unknown: 'end not recorded',
};

/** What a deploy or rollback did to the database, in words. */
export type DatabaseNote = NonNullable<ReturnType<typeof databaseOf>>;

/** undefined: nothing. */
function databaseOf({ project, deploy_id, database }: PastDeploy, backupOf: BackupOf) {
  if (!database) return undefined;
  const { verdict, reasons, restore = '', restored } = database;
  const id = deploy_id ?? '';
  const kept = backupOf(project, id);
  // A backup that is gone restores nothing; a command's own may be anywhere.
  const isGone = kept === null && restore.endsWith(` --database ${id}`);
  return {
    words: verdict
      ? migrationWords({ verdict, reasons })
      : `the database was ${restoredWords(restored ?? '')}`,
    /** The backup from before it, and the command that restores that; empty without one. */
    backup: kept ? `${id}, ${sizeText(kept.bytes)}` : '',
    restore: isGone ? '' : restore,
  };
}

function rowOf(deploy: PastDeploy) {
  const outcome = outcomeOf(deploy);
  const failed = deploy.result === 'failed' || deploy.result === 'rolled_back';
  return {
    at: deploy.start,
    project: deploy.project,
    instance: deploy.instances.join(','),
    version: deploy.version ?? '',
    outcome,
    result: outcome === 'by_hand' ? 'manual rollback' : WORDS[deploy.result],
    ms: deploy.duration_ms ?? null,
    by: deploy.user ?? deploy.trigger ?? '',
    /** Subject of the commit, or the cause of the failure. */
    text: failed ? causeLine(deploy) : (deploy.subject ?? ''),
  };
}
