/** The list of jobs: how each went last, and when it runs next. */

import { foreign, type Html, html } from '@runner/page/html';
import { countOf, lengthOf, timeTag } from '@runner/page/words';
import type { JobRow, Report } from '../model/model.ts';

const HEADINGS = ['Last run', 'App', 'Job', 'Result', 'Took', 'Next', 'Schedule'] as const;

/** Nothing where no release has jobs. */
export function jobsCard({ jobs }: Report): Html | undefined {
  const { shown, omitted } = jobs;
  if (shown.length === 0) return undefined;
  const head = HEADINGS.map((heading) => html`<th scope="col" role="columnheader">${heading}</th>`);
  return html`<section class="card wide" aria-labelledby="h-jobs">
<h2 id="h-jobs">Jobs</h2>
<table class="deploys" role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${shown.map(rowOf)}</tbody></table>
${omitted > 0 ? html`<p class="more">and ${countOf(omitted)} more jobs</p>` : undefined}
</section>`;
}

function rowOf({ project, job, when, outcome, at, ms, next, stopped, trouble }: JobRow): Html {
  const cell = (kind: string, content: Html) =>
    html`<td role="cell" class="${kind}">${content}</td>`;
  const timeOf = (time: number) => (Number.isNaN(time) ? html`–` : timeTag(time));
  const isBad = trouble !== '' || outcome === 'failed' || outcome === 'killed';
  const chip = html`<span class="chip${isBad ? ' bad' : ''}">${outcome}</span>`;
  return html`<tr role="row">${[
    cell('when', timeOf(at)),
    cell('app', foreign(project, 63)),
    cell('version', html`<code>${foreign(job, 63)}</code>`),
    cell('result', chip),
    cell('took', html`${ms === null ? '–' : lengthOf(ms)}`),
    cell('by', stopped ? html`stopped` : timeOf(next)),
    cell(
      'text',
      html`${foreign(when, 80)}${trouble === '' ? undefined : html`<p class="soft">${foreign(trouble, 200)}</p>`}`,
    ),
  ]}</tr>`;
}
