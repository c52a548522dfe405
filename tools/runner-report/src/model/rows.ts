/** The newest deploys, with links to their changes. */
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { causeLine } from './causes.ts';
import { type Cut, cut, type DeployRow } from './model.ts';
import { outcomeOf } from './outcomes.ts';

const ROWS = 200;
const COMMIT = /^[0-9a-f]{40,64}$/;

/** The host's page that compares two commits of an app; undefined if unknown. */
export type CompareOf = (project: string, from: string, to: string) => string | undefined;

/** Newest first. `history`: all known deploys, oldest first. */
export function rowsOf(
  history: readonly PastDeploy[],
  isIn: (deploy: PastDeploy) => boolean,
  compareOf: CompareOf,
): Cut<DeployRow> {
  const before = commitsBefore(history);
  const { shown, omitted } = cut(history.filter(isIn).reverse(), ROWS);
  const linkOf = (deploy: PastDeploy) => {
    const [from, to] = [before.get(deploy), deploy.commit ?? ''];
    if (from === undefined || from === to || !COMMIT.test(to) || deploy.byHand) return '';
    return compareOf(deploy.project, from, to) ?? '';
  };
  return { omitted, shown: shown.map((deploy) => rowOf(deploy, linkOf(deploy))) };
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

function rowOf(deploy: PastDeploy, link: string): DeployRow {
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
    text: failed ? causeLine(deploy) : (deploy.subject ?? ''),
    link,
  };
}
