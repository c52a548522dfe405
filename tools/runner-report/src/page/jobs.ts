/** The list of jobs: how each went last, and when it runs next. */

import { foreign, type Html, html } from '@runner/page/html';
import { lengthOf, timeTag } from '@runner/page/words';
import type { JobRow } from '../model/jobs.ts';
import type { Report } from '../model/report.ts';
import { more, row, table } from './parts.ts';

const HEADINGS = ['Last run', 'App', 'Job', 'Result', 'Took', 'Next', 'Schedule'] as const;

/** Nothing where no release has jobs. */
export function jobsCard({ jobs }: Report): Html | undefined {
  const { shown, omitted } = jobs;
  if (shown.length === 0) return undefined;
  return html`<section class="card wide" aria-labelledby="h-jobs">
<h2 id="h-jobs">Jobs</h2>
${table(HEADINGS, shown.map(rowOf))}
${more(omitted, 'more jobs')}
</section>`;
}

function rowOf({ project, job, when, outcome, at, ms, next, stopped, trouble }: JobRow): Html {
  const timeOf = (time: number) => (Number.isNaN(time) ? html`–` : timeTag(time));
  const isBad = trouble !== '' || outcome === 'failed' || outcome === 'killed';
  const chip = html`<span class="chip${isBad ? ' bad' : ''}">${outcome}</span>`;
  return row({
    when: timeOf(at),
    app: foreign(project, 63),
    version: html`<code>${foreign(job, 63)}</code>`,
    result: chip,
    took: html`${ms === null ? '–' : lengthOf(ms)}`,
    by: stopped ? html`stopped` : timeOf(next),
    text: html`${foreign(when, 80)}${trouble === '' ? undefined : html`<p class="soft">${foreign(trouble, 200)}</p>`}`,
  });
}
