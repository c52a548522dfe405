/** Text with looks, broken into rows of a given width. Widths are estimates: no font is loaded. */
import { MONOSPACE, short, xml } from './xml.ts';

/** Characters of one look. */
export interface Span {
  readonly text: string;
  readonly look: 'plain' | 'bold' | 'code';
}

/** A paragraph of one or more rows, or a block of code. */
export type Block =
  | { readonly kind: 'text'; readonly spans: readonly Span[] }
  | { readonly kind: 'code'; readonly text: string };

/** Pixels of an average character at 14 px; a little more than most fonts need. */
const WIDTH = { plain: 7.3, bold: 7.8, code: 7.9 };
const EMOJI = 19;
/** Height of a row of text, in pixels. */
export const ROW = 20;
const CODE_ROW = 17;
const CODE_COLUMN = 7.25;
const PADDING = 8;

function widthOf({ text, look }: Span): number {
  return [...text].reduce(
    (sum, character) => sum + (/\p{Extended_Pictographic}/u.test(character) ? EMOJI : WIDTH[look]),
    0,
  );
}

/** Words with the space before them, so that nothing is lost when they are put together again. */
function wordsOf({ text, look }: Span): Span[] {
  return (text.match(/\s*\S+|\s+$/g) ?? []).map((word) => ({ text: word, look }));
}

function rowsOf(spans: readonly Span[], width: number): Span[][] {
  const rows: Span[][] = [[]];
  let used = 0;
  for (const word of spans.flatMap(wordsOf)) {
    const wide = widthOf(word);
    if (used > 0 && used + wide > width) {
      rows.push([]);
      used = 0;
    }
    const text = used === 0 ? word.text.trimStart() : word.text;
    (rows.at(-1) as Span[]).push({ ...word, text });
    used += wide;
  }
  return rows;
}

function codeRows(text: string, width: number): string[] {
  const columns = Math.floor((width - 2 * PADDING) / CODE_COLUMN);
  const pattern = new RegExp(`.{1,${columns}}(?:\\s|$)|.{1,${columns}}`, 'gu');
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line) => line.match(pattern) ?? ['']);
}

/** A part of the drawing, and how many pixels it is high. */
export interface Drawn {
  readonly svg: string;
  readonly height: number;
}

/** Draws a row of spans; classes `bold` and `code` give the looks. */
function drawRow(spans: readonly Span[], x: number, y: number): string {
  const parts = spans.map(({ text, look }) =>
    look === 'plain' ? xml(text) : `<tspan class="${look}">${xml(text)}</tspan>`,
  );
  return `<text x="${short(x)}" y="${short(y + 15)}">${parts.join('')}</text>`;
}

/** Draws blocks below each other from (x, y) on. */
export function drawBlocks(
  blocks: readonly Block[],
  { x, y, width, code }: { x: number; y: number; width: number; code: string },
): Drawn {
  let at = y;
  const parts: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'text') {
      for (const row of rowsOf(block.spans, width)) {
        parts.push(drawRow(row, x, at));
        at += ROW;
      }
      continue;
    }
    const rows = codeRows(block.text, width);
    const height = rows.length * CODE_ROW + 2 * PADDING - 4;
    parts.push(
      `<rect x="${x}" y="${at + 2}" width="${width}" height="${height}" rx="4" fill="${code}"/>`,
    );
    rows.forEach((row, index) => {
      const baseline = at + PADDING + 12 + index * CODE_ROW;
      if (row.trim() !== '') {
        parts.push(`<text class="block" x="${x + PADDING}" y="${baseline}">${xml(row)}</text>`);
      }
    });
    at += height + 6;
  }
  return { svg: parts.join('\n'), height: at - y };
}

/** The style sheet that goes with it. */
export const RICH_STYLE = `text{white-space:pre}.bold{font-weight:600}.block,.code{font-family:${MONOSPACE}}.code{font-size:13px}.block{font-size:12px}`;
