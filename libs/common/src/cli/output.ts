/** YAML, colours and tables. */

import type { Env, Sink } from '../foundation/io.ts';
import { harmlessLine, jsonEscapes, UNSAFE } from '../text/harmless.ts';
import { plainData } from '../text/json.ts';

/** How an answer is rendered. */
export type Format = 'human' | 'json' | 'yaml';

/** YAML 1.1 has a special type for `=`. */
const VALUE = { tag: 'tag:yaml.org,2002:value', default: true, test: /^=$/, resolve: String };

/**
 * YAML of a value, for readers of YAML 1.1 and 1.2: a text that one of them would misread (`no`, `1_000`,
 * a time) is quoted. Unsafe characters are escaped.
 */
export async function yamlText(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  const json = JSON.stringify(value);
  const plain = plainData(json);
  // A block would lose a leading space.
  const blockQuote = !/(?:^|[:[,])"(?:\\n)* /.test(json);
  const text = stringify(plain, {
    lineWidth: 0,
    blockQuote,
    compat: 'yaml-1.1',
    customTags: (tags) => [...tags, VALUE],
  });
  if (text.search(UNSAFE) === -1) return text;
  const quoted = { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' } as const;
  return jsonEscapes(stringify(plain, { lineWidth: 0, blockQuote: false, ...quoted }));
}

/** The values of `--color`. */
export type ColourWhen = 'auto' | 'always' | 'never';

const LOOKS = ['bold', 'cyan', 'dim', 'green', 'red', 'yellow'] as const;
/** Functions that colour a text, or return it unchanged. */
export type Style = Readonly<Record<(typeof LOOKS)[number], (text: string) => string>>;

/** No colours. */
export const PLAIN = Object.fromEntries(
  LOOKS.map((look) => [look, (text: string) => text]),
) as Style;

/**
 * Colours for one stream: decided by `--color`, NO_COLOR, FORCE_COLOR, then by whether the stream is a
 * terminal. picocolors itself would decide once, for stdout only.
 */
export async function styleFor(
  when: ColourWhen,
  env: Env,
  stream: { readonly isTTY: boolean },
): Promise<Style> {
  if (!wantsColour(when, env, stream)) return PLAIN;
  const { default: picocolors } = await import('picocolors');
  return picocolors.createColors(true);
}

function wantsColour(when: ColourWhen, env: Env, stream: { readonly isTTY: boolean }): boolean {
  if (when !== 'auto') return when === 'always';
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return canDraw(env, stream);
}

/** The stream is a terminal that knows colours and can erase a line. */
export function canDraw(env: Env, stream: { readonly isTTY: boolean }): boolean {
  return stream.isTTY && env.TERM !== 'dumb';
}

/** Approximate width of a text in character cells: wide characters and emoji count 2. */
export function cells(text: string): number {
  let width = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x300) width += 1;
    else if (/\p{M}|\u200d|\ufe0f/u.test(character)) width += 0;
    else
      width +=
        /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/u.test(
          character,
        )
          ? 2
          : 1;
  }
  return width;
}

/** Pads to `width` cells. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - cells(text)));
}

/** Lines `label  value` with the values aligned; continuation lines are indented under the value. */
export function fields(rows: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(0, ...rows.map(([label]) => cells(label)));
  const margin = ' '.repeat(width + 4);
  return rows
    .map(([label, value]) => `  ${pad(label, width)}  ${value.replaceAll('\n', `\n${margin}`)}\n`)
    .join('');
}

/** Cuts a line to `width` cells, with `…` at the end. */
export function fit(text: string, width: number): string {
  if (cells(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (cells(kept + character) >= width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** How a table is shown. */
interface TableView {
  /** Lines are cut to the width of this terminal. */
  readonly stdout?: Pick<Sink, 'isTTY' | 'columns'>;
  /** Colours the line of a row. */
  paint?(line: string, row: readonly string[]): string;
}

/** A table with a heading, of foreign text too; the last column is not padded. */
export function table(
  heading: readonly string[],
  foreign: readonly (readonly string[])[],
  style: Style,
  { stdout, paint = (line) => line }: TableView = {},
): string {
  const width = stdout?.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const rows = foreign.map((row) => row.map(harmlessLine));
  const widths = heading.map((title, column) =>
    Math.max(cells(title), ...rows.map((row) => cells(row[column] ?? ''))),
  );
  const line = (row: readonly string[]) => {
    const padded = row.map((text, column) =>
      column === row.length - 1 ? text : pad(text, widths[column] ?? 0),
    );
    return fit(padded.join('  ').trimEnd(), width);
  };
  return `${style.bold(line(heading))}\n${rows.map((row) => `${paint(line(row), row)}\n`).join('')}`;
}
