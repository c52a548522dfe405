/** What a program prints on a terminal that it only appends to: styled lines, and when each came. */

/** Characters of one look; `style` is a class of the drawing. */
export interface Run {
  readonly text: string;
  readonly style: string;
}

/** A line of the terminal, styled. */
export interface Line {
  readonly runs: readonly Run[];
  /** Milliseconds from the start to the moment at which the line was there. */
  readonly at: number;
  /** It goes on with the line before, which was too long for the screen. */
  readonly continues?: boolean;
}

/** What a terminal shows, piece by piece. */
export interface Piece {
  readonly text: string;
  /** Milliseconds from the start. */
  readonly at: number;
}

const STYLES: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
  90: 'dim',
};

/** The style after an SGR sequence such as `1;32`; the last number that means something counts. */
function styleAfter(numbers: string, before: string): string {
  return numbers
    .split(';')
    .map(Number)
    .reduce((style, number) => {
      if (number === 0 || number === 22 || number === 39) return '';
      return STYLES[number] ?? style;
    }, before);
}

/** Columns that a text takes: emoji take two, joiners and selectors none. */
export function columnsOf(text: string): number {
  const parts = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text);
  return [...parts].reduce(
    (sum, { segment }) => sum + (/\p{Extended_Pictographic}/u.test(segment) ? 2 : 1),
    0,
  );
}

/** The lines of a recording. A program that moves the cursor is refused: it is drawn wrongly. */
export function linesOf(pieces: readonly Piece[]): Line[] {
  const lines: Line[] = [];
  let runs: Run[] = [];
  let style = '';
  for (const { text, at } of pieces) {
    for (const part of text.replaceAll('\r\n', '\n').split(/(\n|\x1b\[[0-9;]*m)/)) {
      if (part === '\n') {
        lines.push({ runs, at });
        runs = [];
      } else if (part.startsWith('\x1b[')) {
        style = styleAfter(part.slice(2, -1), style);
      } else if (/[\x00-\x1f]/.test(part)) {
        throw new Error(`cannot draw ${JSON.stringify(part)}`);
      } else if (part !== '') {
        runs = [...runs, { text: part, style }];
      }
    }
  }
  if (runs.length > 0) lines.push({ runs, at: pieces.at(-1)?.at ?? 0 });
  return lines;
}

/** The text of a line, without its looks. */
export function textOf(line: Line): string {
  return line.runs.map(({ text }) => text).join('');
}

/** Breaks lines that are longer than `width` columns, as a terminal does. */
export function wrapped(lines: readonly Line[], width: number): Line[] {
  return lines.flatMap((line) => {
    const rows: Run[][] = [[]];
    let column = 0;
    for (const { text, style } of line.runs) {
      for (const character of text) {
        const columns = columnsOf(character);
        if (column + columns > width) {
          rows.push([]);
          column = 0;
        }
        const row = rows.at(-1) as Run[];
        const last = row.at(-1);
        if (last?.style === style) row[row.length - 1] = { text: last.text + character, style };
        else row.push({ text: character, style });
        column += columns;
      }
    }
    return rows.map((runs, index) => ({ runs, at: line.at, continues: index > 0 }));
  });
}
