/** Foreign text made harmless before it reaches a terminal. */
import { withExactNumbers } from './json.ts';

/**
 * Characters that could control the terminal or reorder text: C0 except newline and tab, DEL, C1,
 * bidirectional controls, line separators and lone surrogates.
 */
export const UNSAFE =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Shows control and bidirectional characters as `\x1b`, `\u202e`, …; newline and tab stay. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same on one line: newline and tab are shown as `\n` and `\t`. */
export function harmlessLine(text: string): string {
  return harmless(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Writes these characters of JSON or double-quoted YAML as `\u` escapes, so that nothing is lost. */
export function jsonEscapes(text: string): string {
  return text.replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A value as one line of JSON that is safe for a terminal. */
export function jsonLine(value: unknown): string {
  return jsonEscapes(withExactNumbers(JSON.stringify(value)));
}
