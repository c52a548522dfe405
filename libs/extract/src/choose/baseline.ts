/**
 * What a good build printed: the shapes of its lines, as short hashes, so that nothing of a log can
 * be read back from what is kept of it.
 */
import { classify } from '../line/classify.ts';
import { lineShape, shapeKey } from '../line/shape.ts';
import { createLineReader } from '../line/split.ts';

/** Whether the last good build printed a line of this shape. */
export type Baseline = (line: string) => boolean;

/** For a log of which no good build is known. */
export const noBaseline: Baseline = () => false;

/** Shapes kept of one log: of lines that a rule takes for a failure, and the last of all others. */
const FAILURES = 2_000;
const OTHERS = 2_000;
/** Shapes that are known to have been looked at, so that repeated lines cost little. */
const SEEN = 20_000;

/** The hash of a line's shape, in base 36; '' for a line without a letter. */
export function shapeId(line: string): string {
  const shape = lineShape(line);
  return /\p{L}/u.test(shape) ? shapeKey(shape).toString(36) : '';
}

/** Whether a line is among the shapes with these ids. */
export function baselineOf(ids: Iterable<string>): Baseline {
  const known = new Set(ids);
  if (known.size === 0) return noBaseline;
  return (line) => known.has(shapeId(line));
}

/** Reads the log of a good build. `redact` must be the one that a failing build's lines go through. */
export function createShapeReader(redact: (text: string) => string) {
  const seen = new Set<number>();
  const failures = new Set<string>();
  const others = new Set<string>();
  const reader = createLineReader((text) => {
    const key = shapeKey(text);
    if (seen.has(key)) return;
    if (seen.size < SEEN) seen.add(key);
    const id = shapeId(redact(text));
    if (id === '' || failures.has(id)) return;
    if (failures.size < FAILURES && classify(text.trim()) !== null) {
      failures.add(id);
      return;
    }
    others.delete(id);
    others.add(id);
    if (others.size > OTHERS) others.delete(others.values().next().value ?? '');
  });
  return {
    push: reader.push,
    /** The ids, at most 4000: memory and file are bounded whatever the log. */
    end() {
      reader.end();
      return [...failures, ...others];
    },
  };
}
