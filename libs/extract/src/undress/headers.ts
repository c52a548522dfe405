/** Loggers that print level and name on a line of their own, above the text: takes that line off. */
import { severityNamed } from '../line/severity.ts';
import { columnAt, skipBlanks } from './columns.ts';

/** Headers that a log must have, and their share of the lines at the margin. */
const ENOUGH = 3;
const SHARE = 0.9;

interface HeaderLine {
  readonly body: string;
  readonly line: number;
  readonly level: string;
}

/** The headers of one log, once it has shown that it has them. */
export class Headers {
  #learned = false;
  #indent = 0;
  #level = '';

  /** Looks at some lines: whether the log has headers. */
  learn(lines: readonly HeaderLine[]): boolean {
    if (this.#learned) return true;
    const begun = lines.filter(({ line }, n) => line !== lines[n - 1]?.line);
    const bodies = begun.map(({ body }) => body);
    const atMargin = bodies.flatMap((body, n) => (indentOf(body) === 0 ? [n] : []));
    const above = atMargin.filter((n) => indentOf(bodies[n + 1]) !== 0);
    const enough = Math.max(ENOUGH, SHARE * atMargin.length);
    if (above.length < enough) return false;
    const levels = above.flatMap((n) => levelOf(bodies[n] ?? '') ?? []);
    // Of errors alone it would be what the program says.
    this.#learned =
      levels.length >= enough && levels.some((each) => severityNamed(each) === 'info');
    this.#indent = Math.min(...bodies.map(indentOf).filter((indent) => indent > 0));
    return this.#learned;
  }

  /** The lines without headers and the indent below them, each at the level of its header. */
  strip<L extends HeaderLine>(lines: readonly L[]): readonly L[] {
    if (!this.learn(lines)) return lines;
    return lines.flatMap((line) => {
      const atMargin = indentOf(line.body) === 0;
      const level = atMargin ? levelOf(line.body) : undefined;
      this.#level = level ?? this.#level;
      if (level !== undefined) return [];
      return atMargin ? line : { ...line, body: line.body.slice(this.#indent), level: this.#level };
    });
  }
}

/** Spaces that a line begins with; infinitely many if it is blank. */
function indentOf(body = ''): number {
  const at = skipBlanks(body, 0);
  return at === body.length ? Number.POSITIVE_INFINITY : at;
}

/** The level in a line that has nothing but columns; undefined for another line. */
function levelOf(body: string): string | undefined {
  let level: string | undefined;
  for (let at = 0; at < body.length; ) {
    const column = columnAt(body, at);
    if (column === null || column.trust === 'literal') return undefined;
    level ??= column.level;
    at = column.end;
  }
  return level;
}
