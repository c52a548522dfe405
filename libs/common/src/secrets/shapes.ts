/** Secrets recognized by shape alone, no matter who issued them. */
import type { TextRange } from './redacted.ts';

/**
 * One kind of secret. The pattern is tried only on text that holds one of its hints, in lower case:
 * looking for a word is far cheaper. It must be linear: no nested repetition. Patterns begin with a fixed
 * word where they can, and look back from there: a search for it is fast.
 */
export interface SecretShape {
  readonly hints: readonly string[];
  readonly pattern: RegExp;
}

// Most begin as no word does, so anything may stand before them: `TOKENghp_…`, or the `n`
// of a line break that JSON wrote as `\n`. The others must not continue a word in lower case.

/** The whole match is the secret. */
export const SHAPES: readonly SecretShape[] = [
  { hints: ['gh'], pattern: /gh[pousr]_[A-Za-z0-9]{20,255}/g },
  { hints: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{20,255}/g },
  { hints: ['gl'], pattern: /gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{16,255}/g },
  { hints: ['npm_'], pattern: /npm_[A-Za-z0-9]{30,64}/g },
  { hints: ['xox'], pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  {
    hints: ['sk_'],
    pattern: /sk_(?<=(?:(?<![a-z0-9])|\\[nrt])sk_)(?:live|test)_[A-Za-z0-9]{16,255}/g,
  },
  {
    hints: ['sk-'],
    pattern: /sk-(?<=(?:(?<![a-z0-9])|\\[nrt])sk-)(?:proj-|ant-)?[A-Za-z0-9_-]{32,255}/g,
  },
  { hints: ['akia', 'asia'], pattern: /(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { hints: ['aiza'], pattern: /AIza[A-Za-z0-9_-]{35}/g },
  {
    hints: ['eyj'],
    pattern:
      /eyJ(?<=(?:(?<![a-z0-9J])|\\[nrt])eyJ)[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{8,4096}){1,3}/g,
  },
  { hints: [':'], pattern: /(?<!\d)[1-9]\d{4,16}:[A-Za-z0-9_-]{30,64}/g },
];

/** The secret is revealed by what precedes it, which is the first group and is kept. */
export const PLACES: readonly SecretShape[] = [
  {
    hints: ['/webhooks/'],
    pattern:
      /(https?:\/\/[^\s/]{1,255}\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/)[A-Za-z0-9_-]{8,255}/g,
  },
  { hints: ['://'], pattern: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'`<>]{1,512}(?=@)/gi },
  {
    hints: ['authorization'],
    pattern:
      /(authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s{1,4})[A-Za-z0-9._~+/=-]{4,4096}/gi,
  },
  { hints: ['bearer'], pattern: /(bearer\s{1,4})[A-Za-z0-9._~+/=-]{16,4096}/gi },
  {
    hints: ['passw', 'secret', 'key', 'token'],
    pattern:
      /((?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key)["']?\s{0,3}[:=]\s{0,3}["']?)(?!\[REDACTED\])(?![{(<$]|null\b|undefined\b|none\b|true\b|false\b|permission denied\b|unexpected error\b)[^\s"'`,;)}\]]{6,512}/gi,
  },
];

/** The shapes of which the text has a hint. */
export function hintedIn(text: string, shapes: readonly SecretShape[]): readonly SecretShape[] {
  const lower = text.toLowerCase();
  return shapes.filter(({ hints }) => hints.some((hint) => lower.includes(hint)));
}

/** Where a text has what looks like a secret, or stands in the place of one. */
export function shapedIn(text: string): TextRange[] {
  return hintedIn(text, [...SHAPES, ...PLACES]).flatMap(({ pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: whole, 1: before = '', index }) => ({
      from: index + before.length,
      to: index + whole.length,
    })),
  );
}
