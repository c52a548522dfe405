/** Names and values of secrets, as they are typed, piped or read from a file. */
import { ALL, PREVIEWS } from '@runner/common/app-secrets/file';
import { requireOwnApp } from '@runner/common/apps/store';
import { readGiven } from '@runner/common/files/read';
import { Failure, invalidValue, usage } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import { askSecret, canAsk } from '@runner/common/tokens/prompt';

/** Bytes of one value. */
const VALUE_MAX = 65_536;
/** Bytes of a file with many. */
const FILE_MAX = 4_194_304;

/** Checks the name of a variable. Throws `usage`. */
export function variableName(name: string): string {
  // What follows may be a secret.
  if (name.includes('='))
    throw usage(
      "invalid value for '<NAME>': give only the name; the value is read without being shown",
    );
  const shown = name.length > 80 ? `${name.slice(0, 77)}…` : name;
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name))
    throw invalidValue(shown, '<NAME>', 'it must be the name of a variable');
  if (name.startsWith('RUNNER_'))
    throw invalidValue(shown, '<NAME>', 'runner sets RUNNER_ variables itself');
  return name;
}

/** An app with secrets of its own. Throws `app_not_found`, `name_invalid` for a preview. */
export const requireSecretsOf = (paths: Paths, name: string) =>
  requireOwnApp(paths, name, ({ of }) => `its secrets are those of runner env set ${of} --preview`);

/** The scope that `--instance` or `--preview` names. Throws `usage`. */
export function scopeOf(instance: string | undefined, preview = false): string {
  if (preview) return PREVIEWS;
  if (instance === undefined) return ALL;
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(instance)) return instance;
  throw invalidValue(instance.slice(0, 80), '--instance <NAME>', 'not a name');
}

/** Checks a value. Throws `usage`, which never quotes it. */
export function checkedValue(text: string, name: string): Secret {
  const refuse = (why: string) => usage(`the value of ${name} ${why}`);
  if (Buffer.byteLength(text) > VALUE_MAX) throw refuse('is longer than 64 KiB');
  if (text.includes('\0'))
    throw refuse('has a NUL character, which the environment cannot contain');
  return new Secret(text);
}

/** The value for a variable: from `--file`, standard input (`-`), or a hidden prompt. */
export function readValue(io: Io, file: string | undefined, name: string): Secret {
  if (file !== undefined) return checkedValue(withoutNewline(readFileOf(io, file)), name);
  if (canAsk(io)) return checkedValue(askSecret(io, `Value of ${name}`), name);
  throw usage('stdin is not a terminal: pipe the value with --file -, or use --file FILE');
}

/** The text of `--file`, or of standard input. Throws `file_unreadable`. */
export function readFileOf(io: Io, file: string): string {
  const text = readGiven(io, file, FILE_MAX, 'the input');
  // Bytes that are not UTF-8 would be changed.
  if (!text.includes('\ufffd')) return text;
  throw new Failure(
    'file_unreadable',
    'the value is not UTF-8 text: encode it, for example with base64',
  );
}

/** `echo` and editors end a line; a text of several lines, such as a key, stays as it is. */
function withoutNewline(text: string): string {
  return /^[^\n]*\n$/.test(text) ? text.replace(/\r?\n$/, '') : text;
}
