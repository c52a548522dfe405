/** A value that will not print itself, its fingerprint, and the redaction of text. */
import { Failure } from '../foundation/failure.ts';
import { stripAnsi } from '../text/plain.ts';
import { KnownSecrets } from './known.ts';
import { REDACTED, withoutKeys } from './private-keys.ts';
import { PLACES, SHAPES, type Shape } from './shapes.ts';

/** Holds a secret text. Printing, interpolating, inspecting or serialising it shows `[REDACTED]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The plaintext. Only the vault, HTTP, git's askpass, prompts and the environment of an app may call this. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }
}

/** Longest accepted token; most servers accept header lines of up to 8 KiB. */
const TOKEN_MAX = 4096;

/**
 * A token as given by a flag, a file or a prompt; one trailing newline is dropped.
 * Throws `token_invalid` unless it is 1 to 4096 printable ASCII characters without spaces,
 * because it becomes an HTTP header. The message never quotes it.
 */
export function tokenSecret(text: string): Secret {
  const token = text.replace(/\r?\n$/, '');
  if (token === '') throw new Failure('token_invalid', 'the token is empty');
  if (token.length > TOKEN_MAX) {
    throw new Failure('token_invalid', `the token is longer than ${TOKEN_MAX} characters`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new Failure(
      'token_invalid',
      'the token has characters that no code host issues: spaces, line breaks or non-ASCII',
    );
  }
  return new Secret(token);
}

/** sha256 of a secret as 64 hex characters: what grouping compares. */
export function digestOf(secret: Secret): string {
  // Most commands make no digest, and node:crypto is slow to load.
  return process.getBuiltinModule('node:crypto').hash('sha256', secret.reveal(), 'hex');
}

/** Shows a digest as `tk_1234…9abc`: first and last four of its first 12 hex characters. */
export function fingerprintOf(digest: string): string {
  return `tk_${digest.slice(0, 4)}…${digest.slice(8, 12)}`;
}

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

/** Redacts text. */
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
    const keyless = known.withoutPieces(known.withoutExact(withoutKeys(text)));
    if (!hidesText(keyless)) return clean(keyless);
    const lines = keyless.split('\n').map((line) => uncovered(line, clean));
    return clean(lines.join('\n'));
  };
  return Object.assign(redact, { unfinishedAt: (text: string) => known.unfinishedAt(text) });
}

function withoutShapes(text: string): string {
  let cleaned = text;
  const lower = cleaned.toLowerCase();
  const hinted = ({ hints }: Shape) => hints.some((hint) => lower.includes(hint));
  for (const shape of SHAPES.filter(hinted)) cleaned = cleaned.replace(shape.pattern, REDACTED);
  for (const place of PLACES.filter(hinted))
    cleaned = cleaned.replace(place.pattern, `$1${REDACTED}`);
  return cleaned;
}
