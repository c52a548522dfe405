/** The redaction of text. */
import { stripAnsi } from '../text/plain.ts';
import { KnownSecrets } from './known.ts';
import { withoutKeys } from './private-keys.ts';
import { REDACTED } from './redacted.ts';
import type { Secret } from './secret.ts';
import { hintedIn, PLACES, SHAPES } from './shapes.ts';

/** Invisible characters: they hide a secret from a pattern, but not from a person. */
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Default_Ignorable_Code_Point}]/u;

/** Whether a text has any; most have only what a keyboard has. */
function hidesText(text: string): boolean {
  return /[^\t\n\r -~]/.test(text) && UNSEEN.test(text);
}

/** The text as a person reads it: without escapes and invisible characters. */
export function seenText(text: string): string {
  return hidesText(text) ? stripAnsi(text).replace(new RegExp(UNSEEN, 'gu'), '') : text;
}

/**
 * Redacts a line. Where escapes or invisible characters split a secret, the line loses all of them;
 * otherwise they stay.
 */
function uncovered(line: string, clean: (text: string) => string): string {
  const seen = seenText(line);
  if (seen === line) return line;
  const [cleaned, safe] = [clean(line), clean(seen)];
  return seenText(cleaned) === safe ? cleaned : safe;
}

/** The text without the invisible characters of lines in which they split what looks like a secret. */
function withWholeShapes(text: string): string {
  if (!hidesText(text)) return text;
  const lines = text.split('\n').map((line) => {
    const seen = seenText(line);
    return seenText(withoutShapes(line)) === withoutShapes(seen) ? line : seen;
  });
  return lines.join('\n');
}

export interface Redactor {
  (text: string): string;
  /**
   * Where a known secret may begin that the text does not end; the length of the text without one. What
   * stands before can be redacted without what follows.
   */
  unfinishedAt(text: string): number;
}

/**
 * Makes a function that replaces by `[REDACTED]` every known secret in every form a tool may print,
 * every private key, and everything with the shape of a secret. Redact before cutting a text: a cut
 * secret no longer matches.
 */
export function redactor(secrets: Iterable<Secret> = []): Redactor {
  const known = new KnownSecrets([...secrets].map((secret) => secret.reveal()));
  const clean = (text: string) => withoutShapes(known.withoutExact(text));
  const redact = (text: string) => {
    const unknown = known.withoutForms(withWholeShapes(withoutKeys(text)));
    if (!hidesText(unknown)) return withoutShapes(unknown);
    const lines = unknown.split('\n').map((line) => uncovered(line, clean));
    return clean(lines.join('\n'));
  };
  return Object.assign(redact, { unfinishedAt: (text: string) => known.unfinishedAt(text) });
}

function withoutShapes(text: string): string {
  let cleaned = text;
  for (const shape of hintedIn(text, SHAPES)) cleaned = cleaned.replace(shape.pattern, REDACTED);
  for (const place of hintedIn(text, PLACES))
    cleaned = cleaned.replace(place.pattern, `$1${REDACTED}`);
  return cleaned;
}
