/** HTML templates that escape every value that is not HTML already. */
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';

/** Markup, which is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template; undefined renders nothing. */
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

/** Escapes values, including control and bidirectional characters. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((all, next, index) => all + textOf(parts[index - 1]) + next));
}

/** A fraction from 0 to 1 as a percentage, for attributes. */
export function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

/** Foreign text of any direction, cut to `most` characters. */
export function foreign(text: string, most: number): Html {
  return html`<bdi>${cutCodePoints(text, most)}</bdi>`;
}
