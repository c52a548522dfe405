/** A value that will not print itself, and its fingerprint. */
import { Failure } from '../foundation/failure.ts';
import { REDACTED } from './redacted.ts';

/** Holds a secret text. Printing, interpolating, inspecting or serialising it shows `[REDACTED]`. */
export class Secret {
  readonly #value: string;

  /** Each bundle has its own copy of this class. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof (value as Partial<Secret> | null | undefined)?.reveal === 'function';
  }

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
