/** The jobs of active releases; those with trouble first. */
import type { AppSummary } from '@runner/common/apps/summary';
import { timeOfIso } from '@runner/common/text/time';
import { type Cut, cut, type JobRow } from './model.ts';

const SHOWN = 60;

export function jobRowsOf(apps: readonly AppSummary[] = []): Cut<JobRow> {
  const all = apps.flatMap(({ app: project, jobs }) =>
    jobs.map(({ job, when, last, next, stopped, trouble }) => ({
      project,
      job,
      when,
      outcome: last?.outcome ?? 'not run yet',
      at: timeOfIso(last?.at ?? ''),
      ms: last?.ms ?? null,
      next: timeOfIso(next ?? ''),
      stopped,
      trouble: trouble ?? '',
    })),
  );
  all.sort((a, b) => Number(a.trouble === '') - Number(b.trouble === ''));
  return cut(all, SHOWN);
}
