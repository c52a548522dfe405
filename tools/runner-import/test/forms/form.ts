/** A file in one of the forms that real ones have, and what must become of each of its keys. */
import type { FormatName } from '../../src/formats/all.ts';

/** A value that must never be printed. */
export const SECRET = 'Zx9kQ2mV7tLw4RbY';

/** The beginning of where a key goes; `-` is one that is left. */
export type Truth = Readonly<Record<string, string>>;

/** A part of a file. */
export type Part = readonly [text: string, truth: Truth];

/** A whole file. */
export interface Form {
  readonly format: FormatName;
  readonly file: string;
  readonly text: string;
  readonly truth: Truth;
}

/** About two thirds of the parts, others for each number; the first `always` are in every file. */
export function picked<T>(parts: readonly T[], number: number, always = 1): T[] {
  return parts.filter((_, index) => {
    const mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
    return index < always || (Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 16) % 3 > 0;
  });
}

/** A file of these parts. */
export function formOf(format: FormatName, file: string, parts: readonly Part[]): Form {
  return {
    format,
    file,
    text: `${parts.map(([text]) => text).join('\n')}\n`,
    truth: Object.assign({}, ...parts.map(([, truth]) => truth)) as Truth,
  };
}

/** `count` files: the n-th is `make(n)`. */
export function many(count: number, make: (number: number) => Form): Form[] {
  return Array.from({ length: count }, (_, number) => make(number));
}
