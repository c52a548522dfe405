/** HTML in which every value is escaped, unless it is HTML already. */
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';

/** Text that is markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template may hold; nothing for undefined. */
export type Part = string | number | Html | readonly Part[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'number') return String(part);
  if (typeof part !== 'string') return part.map(textOf).join('');
  return harmlessLine(part).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** A template whose values are escaped, control and bidirectional characters included. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((all, next, index) => all + textOf(parts[index - 1]) + next));
}

/** A part of the width or height, from 0 to 1, for attributes. */
export function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

/** Foreign text, at most that many characters, whatever direction it is written in. */
export function foreign(text: string, most: number): Html {
  return html`<bdi>${cutCodePoints(text, most)}</bdi>`;
}
