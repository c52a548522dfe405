/** The page: a single file that loads nothing and has no scripts. */

import { foreign, Html, html } from '@runner/page/html';
import { STYLE } from '@runner/page/style';
import { countOf, dayOf, lengthOf, partOf, secondsOf, timeTag } from '@runner/page/words';
import { symbol, symbolCircle, symbolTriangle } from 'd3-shape';
import type { Report } from '../model/report.ts';
import { durationsCard } from './durations.ts';
import { jobsCard } from './jobs.ts';
import { causesCard, deploysCard, runningCard } from './lists.ts';
import { outcomesCard } from './outcomes.ts';
import { PICTURES } from './style.ts';
import { timelineCard } from './timeline.ts';

/** Makes the browser refuse to load or run anything. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";

export function pageOf(report: Report): string {
  const { since, until } = report.period;
  const where = report.server === undefined ? '' : ` on ${report.server}`;
  const title = `Deploys of ${report.app ?? 'all apps'}${where}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(STYLE + PICTURES)}</style>
</head>
<body>
${symbols()}
<header><h1>Deploys <span>${report.app === undefined ? undefined : html`of ${foreign(report.app, 63)} `}${report.server === undefined ? undefined : html`on ${foreign(report.server, 63)}`}</span></h1>
<p>${dayOf(since, true)} – ${dayOf(until, true)}, in UTC</p></header>
<main>
${figuresList(report)}
${runningCard(report)}
${jobsCard(report)}
<div class="column">${outcomesCard(report)}${causesCard(report)}</div>
${durationsCard(report)}
${timelineCard(report)}
${deploysCard(report)}
${definitions()}
</main>
<footer><p>Drawn by runner from the audit log on ${timeTag(until)} UTC.</p></footer>
</body>
</html>
`.text;
}

function figuresList({ figures, failedChanges }: Report): Html {
  const { lead_time_s: lead, time_to_restore_s: restore, duration_ms: took } = figures;
  const all: (readonly [name: string, value: string, more: string])[] = [
    ['Deploys', countOf(figures.deploys), `${countOf(figures.per_day)} a day`],
    [
      'Change failure rate',
      partOf(figures.change_failure_rate),
      `${countOf(failedChanges)} of ${countOf(figures.changes)} ${figures.changes === 1 ? 'change' : 'changes'}`,
    ],
    ['Lead time', secondsOf(lead.p50), `p90 ${secondsOf(lead.p90)}`],
    ['Time to restore', secondsOf(restore.p50), `p90 ${secondsOf(restore.p90)}`],
    ['Duration', lengthOf(took.p50), `p95 ${lengthOf(took.p95)}`],
  ];
  return html`<dl class="figures">${all.map(
    ([name, value, more]) =>
      html`<div><dt>${name}</dt><dd><b>${value}</b> <span class="soft">${more}</span></dd></div>`,
  )}</dl>`;
}

/** The marks of outcomes, centred at 0, 0. */
function symbols(): Html {
  const triangle = symbol(symbolTriangle, 44)() ?? '';
  const circle = symbol(symbolCircle, 50)() ?? '';
  const symbolOf = (name: string, shape: Html) => html`<g id="m-${name}">${shape}</g>`;
  return html`<svg width="0" height="0" aria-hidden="true" class="symbols"><defs>${[
    symbolOf('success', html`<path d="${circle}"/>`),
    symbolOf('failed', html`<path class="stroke" d="M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5"/>`),
    symbolOf('rolled_back', html`<path d="${triangle}" transform="rotate(-90)"/>`),
    symbolOf(
      'by_hand',
      html`<path class="hollow" d="${triangle}" transform="rotate(-90) scale(.85)"/>`,
    ),
    symbolOf('unfinished', html`<path class="hollow" d="${circle}" transform="scale(.85)"/>`),
  ]}</defs></svg>`;
}

const DEFINITIONS = [
  ['Deploys', 'all deploys with any result, without manual rollbacks.'],
  [
    'Change failure rate',
    'the share of changes that failed after the switch or were rolled back manually. A change is a deploy whose version went live.',
  ],
  ['Lead time', 'from the commit to the success of its deploy.'],
  [
    'Time to restore',
    'how long the app did not answer until an automatic rollback; else from the failure, or from the success of a version that was later rolled back manually, to the next success or rollback of the app.',
  ],
  ['p50, p90, p95', '50 %, 90 % and 95 % of the values are at or below it.'],
] as const;

function definitions(): Html {
  return html`<section class="card wide" aria-labelledby="h-counted">
<h2 id="h-counted">How this is counted</h2>
<dl class="definitions">${DEFINITIONS.map(([name, words]) => html`<dt>${name}</dt><dd>${words}</dd>`)}</dl>
</section>`;
}
