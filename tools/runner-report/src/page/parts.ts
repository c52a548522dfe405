/** What several cards show: marks, tables, and how much is left out. */
import { type Html, html } from '@runner/page/html';
import { countOf } from '@runner/page/words';
import type { ChartOutcome } from '../model/model.ts';

/** The mark of an outcome, recognisable without its colour. */
export function markOf(outcome: ChartOutcome): Html {
  return html`<svg class="mark ${outcome}" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#m-${outcome}"/></svg>`;
}

export function more(omitted: number, what: string): Html | undefined {
  return omitted > 0 ? html`<p class="more">and ${countOf(omitted)} ${what}</p>` : undefined;
}

export function table(headings: readonly string[], rows: readonly Html[]): Html {
  const head = headings.map((heading) => html`<th scope="col" role="columnheader">${heading}</th>`);
  return html`<table class="deploys" role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${rows}</tbody></table>`;
}

/** A row of a table: its cells by their classes. */
export function row(cells: Readonly<Record<string, Html>>): Html {
  const all = Object.entries(cells).map(
    ([kind, content]) => html`<td role="cell" class="${kind}">${content}</td>`,
  );
  return html`<tr role="row">${all}</tr>`;
}
