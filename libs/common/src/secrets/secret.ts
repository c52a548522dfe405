/** A value that will not print itself; fingerprints; scrubbing text of secrets. */
import { Failure } from '../foundation/failure.ts';
import { stripAnsi } from '../text/plain.ts';
import { SECRET_MIN } from './plain-fields.ts';
import { REDACTED, withoutKeys } from './private-keys.ts';

/** Holds a secret text. Printing, interpolating, inspecting or serialising it shows `[REDACTED]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The plaintext. Only the vault, HTTP, git's askpass and prompts may call this. */
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

/** Longest token that is taken; a header line of most servers ends at 8 KiB. */
const TOKEN_MAX = 4096;

/**
 * Takes a token as it came from a flag, a file or a prompt: one trailing newline is dropped.
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

/** Loaded with the first digest: most commands make none. */
let crypto: typeof import('node:crypto') | undefined;

/** sha256 of a secret as 64 hex characters: what grouping compares. */
export function digestOf(secret: Secret): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.hash('sha256', secret.reveal(), 'hex');
}

/** `digestOf` that knows each value again: of many apps, most share a token. */
export function digester(): (secret: Secret) => string {
  const known = new Map<string, string>();
  return (secret) => {
    const value = secret.reveal();
    let digest = known.get(value);
    if (digest === undefined) {
      digest = digestOf(secret);
      known.set(value, digest);
    }
    return digest;
  };
}

/** Shows a digest as `tk_1234…9abc`: first and last four of its first 12 hex characters. */
export function fingerprintOf(digest: string): string {
  return `tk_${digest.slice(0, 4)}…${digest.slice(8, 12)}`;
}

/**
 * What is redacted wherever it stands. A pattern is tried only on text that holds one of its hints,
 * in lower case: to look for a word is far cheaper than to compile and run an expression.
 */
interface Shape {
  readonly hints: readonly string[];
  /**
   * Linear: no nested repetition. The first group, if there is one, is kept. Made when it is needed:
   * every start would pay for reading all of them.
   */
  readonly pattern: () => RegExp;
}

/** Secrets whose shape tells them, whoever issued them. */
const SHAPES: readonly Shape[] = [
  { hints: ['gh'], pattern: () => /\bgh[pousr]_[A-Za-z0-9]{20,255}/g },
  { hints: ['github_pat_'], pattern: () => /\bgithub_pat_[A-Za-z0-9_]{20,255}/g },
  { hints: ['gl'], pattern: () => /\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{16,255}/g },
  { hints: ['npm_'], pattern: () => /\bnpm_[A-Za-z0-9]{30,64}/g },
  { hints: ['xox'], pattern: () => /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { hints: ['sk_'], pattern: () => /\bsk_(?:live|test)_[A-Za-z0-9]{16,255}/g },
  { hints: ['sk-'], pattern: () => /\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,255}/g },
  { hints: ['akia', 'asia'], pattern: () => /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { hints: ['aiza'], pattern: () => /\bAIza[A-Za-z0-9_-]{35}/g },
  {
    hints: ['eyj'],
    pattern: () =>
      /\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{8,4096}){1,3}/g,
  },
  // No \b before it: in an address it stands behind `bot`.
  { hints: [':'], pattern: () => /(?<!\d)[1-9]\d{4,16}:[A-Za-z0-9_-]{30,64}/g },
];

/** Secrets told by what stands before them, which is the first group and is kept. */
const PLACES: readonly Shape[] = [
  {
    hints: ['/webhooks/'],
    pattern: () =>
      /(https?:\/\/[^\s/]{1,255}\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/)[A-Za-z0-9_-]{8,255}/g,
  },
  { hints: ['://'], pattern: () => /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"'`<>]{1,512}(?=@)/gi },
  {
    hints: ['authorization'],
    pattern: () =>
      /(\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s{1,4})[A-Za-z0-9._~+/=-]{4,4096}/gi,
  },
  { hints: ['bearer'], pattern: () => /(\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{16,4096}/gi },
  {
    hints: ['passw', 'secret', 'key', 'token'],
    pattern: () =>
      /(\b[a-z0-9_-]{0,40}(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key)["']?\s{0,3}[:=]\s{0,3}["']?)(?!\[REDACTED\])(?![{(<$]|null\b|undefined\b|none\b|true\b|false\b)[^\s"'`,;)}\]]{6,512}/gi,
  },
];

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
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
  return forms.filter((form) => form.length >= SECRET_MIN);
}

/** What a terminal does not show: a secret that holds some is none for a pattern, and is read all the same. */
const UNSEEN =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

/** The text as it is read: without escapes and unseen characters; itself when it has none. */
export function seenText(text: string): string {
  return UNSEEN.test(text) ? stripAnsi(text).replace(new RegExp(UNSEEN, 'g'), '') : text;
}

/**
 * Cleans a line of secrets. One with a secret that escapes or unseen characters divide loses all of
 * these; otherwise they stay.
 */
function uncovered(line: string, clean: (text: string) => string): string {
  const seen = seenText(line);
  if (seen === line) return line;
  const [cleaned, safe] = [clean(line), clean(seen)];
  return seenText(cleaned) === safe ? cleaned : safe;
}

/**
 * Makes a function that replaces every known secret, in every form a tool may print it, every
 * private key, and everything that has the shape of a well-known secret, by `[REDACTED]`. Run it
 * before cutting: a cut secret no longer matches.
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
    for (const shape of SHAPES)
      if (hinted(shape)) cleaned = cleaned.replace(shape.pattern(), REDACTED);
    for (const place of PLACES)
      if (hinted(place)) cleaned = cleaned.replace(place.pattern(), `$1${REDACTED}`);
    return cleaned;
  };
  return (text) => {
    const keyless = withoutKeys(text);
    if (!UNSEEN.test(keyless)) return clean(keyless);
    const lines = keyless.split('\n').map((line) => uncovered(line, clean));
    return clean(lines.join('\n'));
  };
}
