/** Outcomes per day: successes above the line, failures below it. */
import type { Period } from '@runner/history/figures/figures';
import { type Html, html, percent } from '@runner/page/html';
import { clockOf, countOf, dayOf } from '@runner/page/words';
import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import type { ChartOutcome } from '../model/model.ts';
import type { Bin } from '../model/outcomes.ts';
import type { Report } from '../model/report.ts';
import { heightLabel, heightLine, timeLabels, timeLines, timeScale } from './axis.ts';
import { markOf } from './parts.ts';

const DAY = 86_400_000;
/** Fraction of a column that is left blank. */
const GAP = 0.18;

const WORDS = [
  ['success', 'succeeded'],
  ['failed', 'failed'],
  ['rolled_back', 'rolled back'],
  ['unfinished', 'did not end'],
] as const satisfies readonly (readonly [ChartOutcome, string])[];

export function outcomesCard({ bins, drawn }: Report): Html {
  const [first] = bins;
  const width = first ? first.to - first.from : DAY;
  const unit = width < DAY ? 'an hour' : width === DAY ? 'a day' : `per ${width / DAY} days`;
  const totals = WORDS.map(([outcome, words]) => {
    const count = bins.reduce((sum, each) => sum + each[outcome], 0);
    return { outcome, words, count };
  }).filter(({ count, outcome }) => count > 0 || outcome === 'success');
  const inWords = totals.map(({ count, words }) => `${countOf(count)} ${words}`).join(', ');
  return html`<section class="card" aria-labelledby="h-outcomes">
<h2 id="h-outcomes">Outcomes <small>${unit}</small></h2>
<ul class="legend">${totals.map(
    ({ outcome, words, count }) => html`<li>${markOf(outcome)} ${countOf(count)} ${words}</li>`,
  )}</ul>
${picture(bins, drawn, inWords)}
${table(bins, width)}
</section>`;
}

function picture(bins: readonly Bin[], drawn: Period, inWords: string): Html {
  const up = max(bins, ({ success }) => success) || 1;
  const down = max(bins, (each) => each.failed + each.rolled_back + each.unfinished) ?? 0;
  const y = scaleLinear([up, -down], [0, 1]).nice(4);
  const x = timeScale(drawn);
  const bars = bins.flatMap((each) => {
    const [left, right] = [x(each.from), x(each.to)];
    const bar = (outcome: ChartOutcome, from: number, to: number) => {
      if (from === to) return [];
      const gap = (right - left) * (GAP / 2);
      const [top, bottom] = [y(Math.max(from, to)), y(Math.min(from, to))];
      return html`<rect class="${outcome}" x="${percent(left + gap)}" width="${percent(right - left - 2 * gap)}" y="${percent(top)}" height="${percent(bottom - top)}"/>`;
    };
    const [one, two] = [-each.failed, -each.failed - each.rolled_back];
    return [
      bar('success', 0, each.success),
      bar('failed', 0, one),
      bar('rolled_back', one, two),
      bar('unfinished', two, two - each.unfinished),
    ].flat();
  });
  const ticks = y.ticks(4).filter(Number.isInteger);
  return html`<div class="plot" role="img" aria-label="Outcomes over time: ${inWords}">
<svg aria-hidden="true">${timeLines(drawn)}<g class="grid">${ticks.map((tick) => heightLine(y(tick)))}</g>${bars}${heightLine(y(0), 'base')}</svg>
${ticks.map((tick) => heightLabel(y(tick), String(Math.abs(tick))))}${timeLabels(drawn)}
</div>`;
}

function table(bins: readonly Bin[], width: number): Html {
  const used = bins.filter((each) => WORDS.some(([outcome]) => each[outcome] > 0)).reverse();
  const from = (time: number) =>
    width < DAY ? `${dayOf(time)} ${clockOf(time)}` : dayOf(time, true);
  const rows = used.map(
    (each) =>
      html`<tr><th scope="row">${from(each.from)}</th>${WORDS.map(([outcome]) => html`<td>${each[outcome] || '·'}</td>`)}</tr>`,
  );
  return html`<details><summary>As a table</summary><table class="numbers"><thead><tr><th scope="col">From</th>${WORDS.map(
    ([, words]) => html`<th scope="col">${words}</th>`,
  )}</tr></thead><tbody>${rows}</tbody></table></details>`;
}
