/** Durations on a logarithmic scale; the slowest deploys are numbered. */

import { foreign, type Html, html, percent } from '@runner/page/html';
import { dayOf, lengthOf } from '@runner/page/words';
import { extent } from 'd3-array';
import { scaleLog } from 'd3-scale';
import { curveMonotoneX, line } from 'd3-shape';
import type { Median } from '../model/outcomes.ts';
import type { Report } from '../model/report.ts';
import { heightLabel, heightLine, timeLabels, timeLines, timeScale } from './axis.ts';
import { markOf } from './parts.ts';

/** Round durations, in seconds. */
const ROUND = [0.1, 1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];
/** Most labels that fit on the axis. */
const LABELS = 5;
/** Size of a number as a fraction of the chart. */
const PIN = { width: 0.04, height: 0.09 } as const;

export function durationsCard(report: Report): Html {
  const { figures, slowest } = report;
  const { p50, p95 } = figures.duration_ms;
  return html`<section class="card" aria-labelledby="h-took">
<h2 id="h-took">Durations <small>p50 ${lengthOf(p50)}, p95 ${lengthOf(p95)}</small></h2>
<ul class="legend"><li>${markOf('success')} succeeded</li><li>${markOf('failed')} failed</li><li><svg class="key" viewBox="0 0 18 12" aria-hidden="true"><line x1="0" x2="18" y1="6" y2="6" class="median"/></svg> median</li></ul>
${report.took.length === 0 ? html`<p class="none">No deploy has ended.</p>` : picture(report)}
${slowest.length > 0 ? slowList(report) : undefined}
</section>`;
}

function picture({ took, median, slowest, drawn, figures }: Report): Html {
  const [least = 1, most = 1] = extent(took, ({ ms }) => ms) as [number, number];
  const scale = scaleLog([most * 1.25, Math.max(1, least / 1.25)], [0, 1]);
  const y = (ms: number) => Math.round(scale(ms) * 10_000) / 10_000;
  const x = timeScale(drawn);
  const points = took.map(({ at, ms, good }) =>
    good
      ? html`<circle cx="${percent(x(at))}" cy="${percent(y(ms))}" r="2.5"/>`
      : html`<svg class="failed" x="${percent(x(at))}" y="${percent(y(ms))}"><use href="#m-failed"/></svg>`,
  );
  const ticks = roundBetween(Math.max(1, least / 1.25), most * 1.25);
  const places = slowest.map(({ at, ms }) => [x(at), y(ms)] as const);
  const moved = apart(places);
  const pins = moved.map(
    ([left, top], index) =>
      html`<b class="pin" style="left:${percent(left)};top:${percent(top)}">${index + 1}</b>`,
  );
  const leads = places.map(([from, height], index) =>
    leadOf(from, moved[index]?.[0] ?? from, height),
  );
  const inWords = `Durations: half of the deploys took ${lengthOf(figures.duration_ms.p50)} or less, the slowest ${lengthOf(most)}`;
  return html`<div class="plot" role="img" aria-label="${inWords}">
<svg aria-hidden="true">${timeLines(drawn)}<g class="grid">${ticks.map((ms) => heightLine(y(ms)))}</g><g class="points">${points}</g><g class="leads">${leads}</g>${medianLine(median, x, y)}</svg>
${pins}${ticks.map((ms) => heightLabel(y(ms), roundLabel(ms)))}${timeLabels(drawn)}
</div>`;
}

/** Moves the numbers towards the middle until they no longer overlap. */
function apart(places: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const placed: (readonly [number, number])[] = [];
  for (const [x, y] of places) {
    let left = x;
    const covers = ([a, b]: readonly [number, number]) =>
      Math.abs(a - left) < PIN.width && Math.abs(b - y) < PIN.height;
    const step = (x < 0.5 ? PIN.width : -PIN.width) / 2;
    while (placed.some(covers)) left += step;
    placed.push([left, y]);
  }
  return placed;
}

/** From a point to its number, if that stands elsewhere. */
function leadOf(from: number, to: number, height: number): Html | undefined {
  if (from === to) return undefined;
  const y = percent(height);
  return html`<line x1="${percent(from)}" x2="${percent(to)}" y1="${y}" y2="${y}"/>`;
}

function medianLine(
  median: readonly Median[],
  x: (time: number) => number,
  y: (ms: number) => number,
): Html {
  const path = line<Median>()
    .x(({ at }) => x(at) * 100)
    .y(({ ms }) => y(ms) * 100)
    .digits(2)
    .curve(curveMonotoneX)(median as Median[]);
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none"><path class="median" d="${path ?? ''}"/></svg>`;
}

function roundBetween(least: number, most: number): number[] {
  const all = ROUND.map((seconds) => seconds * 1000).filter((ms) => ms >= least && ms <= most);
  const every = Math.ceil(all.length / LABELS);
  return all.filter((_, index) => (all.length - 1 - index) % every === 0);
}

function roundLabel(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} m` : `${ms / 3_600_000} h`;
}

function slowList({ slowest, figures }: Report): Html {
  const most = slowest[0]?.ms ?? 1;
  const deploys = slowest.map(
    ({ project, version, ms, at, step, stepMs }) =>
      html`<li><span class="name">${foreign(project, 40)} ${code(version)}</span><span class="bar"><i style="width:${percent(ms / most)}"></i></span><span class="value">${lengthOf(ms)}</span><span class="soft">${dayOf(at)}${step === '' ? '' : `: ${step} ${lengthOf(stepMs)}`}</span></li>`,
  );
  const steps = figures.slowest_steps;
  const longest = Math.max(1, ...steps.map(({ p95 }) => p95 ?? 0));
  const bars = steps.map(
    ({ stage, p50, p95 }) =>
      html`<li><span class="name">${foreign(stage, 30)}</span><span class="bar"><i style="width:${percent((p95 ?? 0) / longest)}"></i></span><span class="value">${lengthOf(p95)}</span><span class="soft">p50 ${lengthOf(p50)}</span></li>`,
  );
  return html`<h3>Slowest deploys</h3><ol class="bars">${deploys}</ol>
${steps.length > 0 ? html`<h3>Slowest steps <small>95th percentile</small></h3><ul class="bars">${bars}</ul>` : undefined}`;
}

function code(version: string): Html {
  return html`<code>${foreign(version, 40)}</code>`;
}
