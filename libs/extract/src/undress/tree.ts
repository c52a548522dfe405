/** Learns which columns follow one another in the lines of a log. */
import { severityNamed } from '../line/severity.ts';
import { type Column, columnAt, skipBlanks } from './columns.ts';

/** Columns of one line, and different columns followed in one place. */
export const COLUMNS = 12;
const BRANCHES = 200;
/** Lines after which what follows a column is known, or known to be text. */
const KNOWN = 512;
export const GIVEN_UP = 256;

/** What follows one sequence of columns. */
export class Node {
  lines = 0;
  /** Lines in which nothing follows, and those in which an indented text does. */
  blank = 0;
  indented = 0;
  /** Lines in which a label follows, and those whose own column names a failure. */
  labels = 0;
  loud = 0;
  /** Blanks that all texts here begin with. */
  indent = Number.POSITIVE_INFINITY;
  /** The last number here, and how many were one more than the number before. */
  number = Number.NaN;
  counted = 0;
  /** Lines that began with this column and had no dress; none at all after one that had. */
  misses = 0;
  readonly next = new Map<string, Node>();
}

/** A line, from a column on. */
export type Item = { readonly text: string; readonly at: number; readonly column: Column | null };

/** Counts the columns of some lines below a node. */
export function learn(node: Node, items: readonly Item[], depth: number): void {
  node.lines += items.length;
  const groups = new Map<string, { column: Column; items: Item[]; loud: number }>();
  for (const item of items) {
    const { text, at, column } = item;
    const from = skipBlanks(text, at);
    if (from >= text.length) node.blank += 1;
    else if (from > at) node.indented += 1;
    if (from < text.length) node.indent = Math.min(node.indent, from - at);
    if (column === null) continue;
    const group = groups.get(column.key) ?? { column, items: [], loud: 0 };
    groups.set(column.key, group);
    if (column.trust === 'heard') node.labels += 1;
    if (column.level !== undefined && isLoud(column.level)) group.loud += 1;
    group.items.push(item);
  }
  for (const [key, group] of groups) {
    let child = node.next.get(key);
    const { trust } = group.column;
    if (child === undefined) {
      if (node.next.size >= (trust === 'literal' ? BRANCHES : 2 * BRANCHES)) continue;
      child = new Node();
      node.next.set(key, child);
    }
    child.loud += group.loud;
    if (key === 'id') for (const { text, column } of group.items) count(child, text, column);
    const worth = trust === 'sure' || trust === 'heard' || group.items.length >= 0.5 * items.length;
    if (!worth || depth === COLUMNS || child.lines > KNOWN || child.misses > GIVEN_UP)
      child.lines += group.items.length;
    else
      learn(
        child,
        group.items.map(({ text, column }) => {
          const at = column?.end ?? 0;
          return { text, at, column: columnAt(text, at) };
        }),
        depth + 1,
      );
  }
}

/** Notes whether a number goes on counting. */
function count(node: Node, text: string, column: Column | null): void {
  const value = Number.parseInt(text.slice(column?.start ?? 0), 10);
  if (value === node.number + 1) node.counted += 1;
  node.number = value;
}

export function isLoud(level: string): boolean {
  return severityNamed(level) === 'error';
}
