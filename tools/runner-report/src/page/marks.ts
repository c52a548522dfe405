import { type Html, html } from '@runner/page/html';
import type { ChartOutcome } from '../model/model.ts';

/** The mark of an outcome, recognisable without its colour. */
export function markOf(outcome: ChartOutcome): Html {
  return html`<svg class="mark ${outcome}" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#m-${outcome}"/></svg>`;
}
