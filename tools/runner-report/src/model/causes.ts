/** Failures grouped by the shape of the first line of their cause. */
import { lineShape } from '@runner/extract/line/shape';
import type { PastDeploy } from '@runner/history/deploys/deploy';
import { group } from 'd3-array';
import { type Cut, cut } from './model.ts';

const CAUSES = 12;
/** Characters of a line that are redacted and compared. */
const LINE = 2_000;

/** The first line of the cause. */
export function causeLine({ cause, stage }: PastDeploy): string {
  const line = (cause ?? '').split('\n', 1)[0]?.slice(0, LINE).trim();
  return line || `failed in ${stage || 'an unknown step'}`;
}

export function causesOf(deploys: readonly PastDeploy[]): Cut<Cause> {
  const failed = deploys.filter(({ result }) => result === 'failed' || result === 'rolled_back');
  const groups = [...group(failed, (deploy) => lineShape(causeLine(deploy)))].map(([, all]) => all);
  groups.sort((a, b) => b.length - a.length || newest(b).start - newest(a).start);
  const { shown, omitted } = cut(groups, CAUSES);
  return { omitted, shown: shown.map(causeOf) };
}

function newest(all: readonly PastDeploy[]): PastDeploy {
  return all.at(-1) as PastDeploy;
}

/** Failures whose causes have the same shape. */
export type Cause = ReturnType<typeof causeOf>;

function causeOf(all: readonly PastDeploy[]) {
  const last = newest(all);
  return {
    /** The newest of them: its line, app and version. */
    line: causeLine(last),
    project: last.project,
    version: last.version ?? '',
    stage: last.stage ?? '',
    count: all.length,
    last: last.start,
    apps: new Set(all.map(({ project }) => project)).size,
  };
}
