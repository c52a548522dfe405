/** The shape of a line: what stays when numbers, ids and repeated marks are masked. */

const IDS = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b/gi;
const HEX = /\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/gi;
const NUMBERS = /\d+(?:[.,:]\d+)*/g;
const RUNS = /([^\w\s])\1{2,}/g;

/**
 * The line with numbers, ids, runs of one mark and the width of spaces masked: two lines that
 * differ only in those have one shape. At most 300 characters of the line count.
 */
export function lineShape(line: string): string {
  return line
    .slice(0, 300)
    .replace(IDS, '#')
    .replace(HEX, '#')
    .replace(NUMBERS, '#')
    .replace(RUNS, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Shapes told apart at most: what comes later counts as rare. Some 3 MB. */
const COUNTED = 50_000;

/** Counts lines by shape in bounded memory. */
export interface ShapeCounts {
  /** Counts the line and says how often its shape has been seen, this time included. */
  add(line: string): number;
  /** How often the line's shape has been seen. */
  of(line: string): number;
}

export function createShapeCounts(): ShapeCounts {
  const counts = new Map<number, number>();
  return {
    add(line) {
      const key = shapeHash(line);
      const seen = counts.get(key);
      if (seen === undefined && counts.size >= COUNTED) return 1;
      counts.set(key, (seen ?? 0) + 1);
      return (seen ?? 0) + 1;
    },
    of: (line) => counts.get(shapeHash(line)) ?? 1,
  };
}

/** FNV-1a over the line with digit runs masked: a cheaper relative of `lineShape`, for every line. */
function shapeHash(line: string): number {
  let hash = 0x811c9dc5;
  let last = 0;
  const end = Math.min(line.length, 200);
  for (let at = 0; at < end; at += 1) {
    let unit = line.charCodeAt(at);
    if (unit >= 48 && unit <= 57) unit = 35;
    if (unit === last && (unit === 35 || unit === 32)) continue;
    last = unit;
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return hash;
}
