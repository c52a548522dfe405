/** The axes of all charts; positions are fractions of the width and height. */
import type { Period } from '@runner/history/figures/figures';
import { type Html, html, percent } from '@runner/page/html';
import { clockOf, dayOf } from '@runner/page/words';
import { scaleUtc } from 'd3-scale';

const DAY = 86_400_000;

/** Position of a time in the period, from 0 to 1. */
export type TimeScale = (time: number) => number;

export function timeScale({ since, until }: Period): TimeScale {
  const scale = scaleUtc([since, until], [0, 1]).clamp(true);
  return (time) => Math.round(scale(time) * 10_000) / 10_000;
}

/** About seven round times with labels. */
function timeTicks({ since, until }: Period): { at: number; label: string }[] {
  return scaleUtc([since, until], [0, 1])
    .ticks(7)
    .map((date) => ({ at: date.getTime(), label: labelOf(date, until - since) }));
}

function labelOf(date: Date, length: number): string {
  const time = date.getTime();
  if (length < 3 * DAY) return clockOf(time);
  return dayOf(time, date.getUTCMonth() === 0 && date.getUTCDate() === 1);
}

/** Time labels below a chart. */
export function timeLabels(period: Period): Html {
  const x = timeScale(period);
  const labels = timeTicks(period).map(
    ({ at, label }) => html`<span class="x" style="left:${percent(x(at))}">${label}</span>`,
  );
  return html`<div class="xs" aria-hidden="true">${labels}</div>`;
}

/** Vertical lines at the round times. */
export function timeLines(period: Period): Html {
  const x = timeScale(period);
  const lines = timeTicks(period).map(({ at }) => {
    const left = percent(x(at));
    return html`<line x1="${left}" x2="${left}" y1="0" y2="100%"/>`;
  });
  return html`<g class="grid">${lines}</g>`;
}

/** A label on the left of a chart; `at` is the fraction of its height from the top. */
export function heightLabel(at: number, label: string): Html {
  return html`<span class="y" style="top:${percent(at)}">${label}</span>`;
}

/** A horizontal line. */
export function heightLine(at: number, kind = ''): Html {
  return html`<line class="${kind}" x1="0" x2="100%" y1="${percent(at)}" y2="${percent(at)}"/>`;
}
