/** The shape of a line: what stays when numbers, ids and repeated marks are masked. */
import { cleanText } from '@runner/common/text/plain';
import type { Shape } from './row.ts';

const IDS = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]+\b/gi;
const HEX = /\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/gi;
const NUMBERS = /\d+(?:[.,:]\d+)*/g;
const RUNS = /([^\w\s])\1{2,}/g;

/**
 * The line with numbers, ids, runs of one mark and the width of spaces masked: two lines that
 * differ only in those have one shape. Escapes do not count, nor what follows 300 characters.
 */
export function lineShape(line: string): string {
  return cleanText(line.slice(0, 1200))
    .slice(0, 300)
    .replace(IDS, '#')
    .replace(HEX, '#')
    .replace(NUMBERS, '#')
    .replace(RUNS, '$1')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Shapes counted, some 2 MB; later ones count as rare. */
const COUNTED = 20_000;

/** The shapes of one log, by their `shapeKey`. One of too many is new with each of its lines. */
export function createShapes(): (key: number) => Shape {
  const known = new Map<number, Shape>();
  return (key) => {
    // A map finds small integers fastest.
    let at = key | 0;
    let shape = known.get(at);
    while (shape !== undefined && shape.key !== key) {
      at += 1;
      shape = known.get(at);
    }
    if (shape !== undefined) return shape;
    shape = { key, seen: 0, offered: 0, kind: undefined };
    if (known.size < COUNTED) known.set(at, shape);
    return shape;
  };
}

/** Code units of a line that its key covers. */
export const KEYED = 240;

/**
 * A number for the line with its numbers masked: a cheaper relative of `lineShape`, for every line.
 * 53 bits of two hashes, so that no two lines of one log share it by chance.
 */
export function shapeKey(line: string): number {
  let low = 0x811c9dc5;
  let high = 0x1b873593;
  let last = 0;
  const end = Math.min(line.length, KEYED);
  for (let at = 0; at < end; at += 1) {
    let unit = line.charCodeAt(at);
    if (unit >= 48 && unit <= 57) unit = 35;
    if (unit === last && (unit === 35 || unit === 32)) continue;
    last = unit;
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995);
  }
  return (low >>> 0) * 0x200000 + ((high >>> 0) & 0x1fffff);
}
