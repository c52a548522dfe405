/** The jobs of active releases; those with trouble first. */
import type { AppSummary } from '@runner/common/apps/summary';
import { timeOfIso } from '@runner/common/text/time';
import { cut } from './model.ts';

const SHOWN = 60;

/** A job of an active release. */
export type JobRow = ReturnType<typeof jobRowsOf>['shown'][number];

export function jobRowsOf(apps: readonly AppSummary[] = []) {
  const all = apps.flatMap(({ app: project, jobs }) =>
    jobs.map(({ job, when, last, next, stopped, trouble }) => ({
      project,
      job,
      when,
      /** Its newest run: how it ended, when it began, and how long it took, in ms; NaN without one. */
      outcome: last?.outcome ?? 'not run yet',
      at: timeOfIso(last?.at ?? ''),
      ms: last?.ms ?? null,
      /** NaN: no time is due. */
      next: timeOfIso(next ?? ''),
      stopped,
      /** In words; empty if all is well. */
      trouble: trouble ?? '',
    })),
  );
  all.sort((a, b) => Number(a.trouble === '') - Number(b.trouble === ''));
  return cut(all, SHOWN);
}
