/** Loggers that print time, level or name on a line of their own: joins it to the lines below. */
import { severityNamed } from '../line/severity.ts';
import { columnAt } from './columns.ts';

/** Lines that a log must have as a header, and their share of the lines at the margin. */
const ENOUGH = 3;
const SHARE = 0.9;

/** Joins the headers of one log, once it has shown that it has them. */
export class Headers {
  #learned = false;
  #header = '';

  /** Looks at some lines: whether the log has headers. */
  learn(lines: readonly { readonly body: string }[]): boolean {
    this.#learned ||= hasHeaders(lines.map(({ body }) => body));
    return this.#learned;
  }

  /** The lines, each with the header that it stands below. */
  join<L extends { readonly body: string }>(lines: readonly L[]): readonly L[] {
    if (!this.learn(lines)) return lines;
    const joined: L[] = [];
    for (const line of lines) {
      const { body } = line;
      const header = isAtMargin(body) ? levelOf(body) : undefined;
      if (header === undefined) joined.push({ ...line, body: isAtMargin(body) ? body : this.#header + body });
      if (isAtMargin(body)) this.#header = header === undefined ? '' : body;
    }
    return joined;
  }
}

function isAtMargin(body: string): boolean {
  return body !== '' && body[0] !== ' ' && body[0] !== '\t';
}

function hasHeaders(bodies: readonly string[]): boolean {
  const atMargin = bodies.flatMap((body, n) => isAtMargin(body) ? [n] : []);
  const above = atMargin.filter((n) => !isAtMargin(bodies[n + 1] ?? ''));
  if (above.length < ENOUGH || above.length < SHARE * atMargin.length) return false;
  const levels = above.map((n) => levelOf(bodies[n] ?? '')).filter((level) => level !== undefined);
  return (
    levels.length >= SHARE * atMargin.length &&
    levels.some((level) => severityNamed(level) === 'info')
  );
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
