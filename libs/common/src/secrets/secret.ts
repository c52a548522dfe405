/** A value that will not print itself, its fingerprint, and the redaction of text. */
import { Failure } from '../foundation/failure.ts';
import { stripAnsi } from '../text/plain.ts';
import { SECRET_MIN } from './plain-fields.ts';
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

/** The forms in which a tool may print a value: raw, base64 at each alignment, URI, JSON, hex. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const base64 = [0, 1, 2].map((shift) => {
    // Dropping the characters that depend on what stands before and after leaves the stable middle.
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = shift === 0 ? 0 : shift + 1;
    return text.slice(from, (bytes.length + shift) % 3 === 0 ? undefined : -1);
  });
  const forms = [
    value,
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%[0-9A-F]{2}/g, (part) => part.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
    // As a shell traces it.
    value.replaceAll("'", "'\\''"),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  return forms.filter((form) => form.length >= SECRET_MIN);
}

/** Invisible characters: they hide a secret from a pattern, but not from a person. */
const UNSEEN =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

/** The text as a person reads it: without escapes and invisible characters. */
export function seenText(text: string): string {
  return UNSEEN.test(text) ? stripAnsi(text).replace(new RegExp(UNSEEN, 'g'), '') : text;
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

/**
 * Makes a function that replaces by `[REDACTED]` every known secret in every form a tool may print,
 * every private key, and everything with the shape of a secret. Redact before cutting a text: a cut
 * secret no longer matches.
 */
export function redactor(known: Iterable<Secret> = []): (text: string) => string {
  const forms = [...new Set([...known].flatMap((secret) => formsOf(secret.reveal())))];
  forms.sort((a, b) => b.length - a.length);
  const shortest = forms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  const clean = (text: string) => {
    let cleaned = text;
    if (text.length >= shortest)
      for (const form of forms) cleaned = cleaned.replaceAll(form, REDACTED);
    const lower = cleaned.toLowerCase();
    const hinted = ({ hints }: Shape) => hints.some((hint) => lower.includes(hint));
    for (const shape of SHAPES.filter(hinted)) cleaned = cleaned.replace(shape.pattern, REDACTED);
    for (const place of PLACES.filter(hinted))
      cleaned = cleaned.replace(place.pattern, `$1${REDACTED}`);
    return cleaned;
  };
  return (text) => {
    const keyless = withoutKeys(text);
    if (!UNSEEN.test(keyless)) return clean(keyless);
    const lines = keyless.split('\n').map((line) => uncovered(line, clean));
    return clean(lines.join('\n'));
  };
}
