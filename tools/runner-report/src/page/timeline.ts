/** Versions of each app over time, with failures and rollbacks. */
import type { Period } from '@runner/history/figures/figures';
import { foreign, type Html, html, percent } from '@runner/page/html';
import { clockOf, countOf, dayOf } from '@runner/page/words';
import type { Lane } from '../model/lanes.ts';
import type { ChartOutcome } from '../model/model.ts';
import type { Report } from '../model/report.ts';
import { timeLabels, timeLines, timeScale } from './axis.ts';
import { markOf, more } from './parts.ts';

const WORDS = {
  failed: 'failed',
  rolled_back: 'failed, rolled back',
  by_hand: 'rolled back manually',
  unfinished: 'did not end',
} as const satisfies Partial<Record<ChartOutcome, string>>;

export function timelineCard({ lanes, drawn }: Report): Html {
  const used = (Object.keys(WORDS) as (keyof typeof WORDS)[]).filter((outcome) =>
    lanes.shown.some(({ marks }) => marks.some((mark) => mark.outcome === outcome)),
  );
  const legend = used.map((outcome) => html`<li>${markOf(outcome)} ${WORDS[outcome]}</li>`);
  const { shown, omitted } = lanes;
  const heading = html`<h2 id="h-versions">Versions <small>what was active when</small></h2>`;
  if (shown.length === 0)
    return html`<section class="card wide" aria-labelledby="h-versions">
${heading}<p class="none">No version was active.</p>
</section>`;
  return html`<section class="card wide" aria-labelledby="h-versions">
${heading}
<ul class="legend"><li><i class="now"></i> active now</li>${legend}</ul>
<div class="lanes"><div class="under" aria-hidden="true"><svg>${timeLines(drawn)}</svg></div>
${shown.map((lane) => laneOf(lane, drawn))}
<div class="axis">${timeLabels(drawn)}</div></div>
${more(omitted, 'apps with fewer deploys')}
</section>`;
}

function laneOf({ project, deploys, failed, versions, marks }: Lane, period: Period): Html {
  const x = timeScale(period);
  const segments = versions.map(({ version, from, to }, index) => {
    const kind = index === versions.length - 1 ? 'now' : index % 2 === 0 ? 'even' : 'odd';
    return html`<div class="${kind}" style="left:${percent(x(from))};width:${percent(x(to) - x(from))}"><span>${foreign(version, 24)}</span></div>`;
  });
  const symbols = marks.map(({ at, outcome, version, count }) => {
    const words = `${WORDS[outcome]}: ${version.slice(0, 40)}, ${dayOf(at)} ${clockOf(at)}${count > 1 ? `, and ${count - 1} more` : ''}`;
    return html`<svg class="${outcome}" x="${percent(x(at))}" y="7"><title>${words}</title><use href="#m-${outcome}"/></svg>`;
  });
  const last = versions.at(-1)?.version;
  const inWords = `${project.slice(0, 63)}: ${deploys} deploys, ${failed} did not succeed${last === undefined ? '' : `; ${last.slice(0, 40)} is active`}`;
  const active = last === undefined ? undefined : foreign(last, 24);
  return html`<div class="lane"><div class="label"><b>${foreign(project, 40)}</b> <span class="soft">${countOf(deploys)}</span></div><div class="track" role="img" aria-label="${inWords}"><div class="versions">${segments}</div><svg class="marks" aria-hidden="true">${symbols}</svg></div><code>${active}</code></div>`;
}
