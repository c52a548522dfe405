/** The lines of an allowed_signers file, as ssh-keygen(1) describes them, and of a list of revoked keys. */
import { type SshKey, sshKey } from './ssh-key.ts';

/** A line that names a key and whose it is. */
export interface ListedKey extends SshKey {
  /** As the file has it. */
  readonly principal: string;
  /** Patterns; undefined: any namespace. */
  readonly namespaces: readonly string[] | undefined;
  /** Seconds since 1970, both included; undefined: always. */
  readonly after: number | undefined;
  readonly before: number | undefined;
}

/** What was read, and a sentence for each line that cannot be, which begins with its number. */
export interface ReadLines<T> {
  readonly found: readonly T[];
  readonly problems: readonly string[];
}

const OPTION = /^([a-z-]+)(?:="([^"]*)")?$/i;
const NO_KEY = 'has no key that counts: ed25519, ecdsa, their sk- forms, or RSA from 2048 bits';

export function allowedSigners(text: string): ReadLines<ListedKey> {
  return readLines(text, (line) => {
    const [principal = '', ...rest] = words(line);
    const isKey = (word: string | undefined) => /^(?:sk-)?(?:ssh|ecdsa)-/.test(word ?? '');
    const options = isKey(rest[0]) ? '' : (rest.shift() ?? '');
    const key = keyOf(rest);
    if (typeof key === 'string') return key;
    const values = new Map<string, string>();
    for (const option of options.match(/(?:[^,"]|"[^"]*")+/g) ?? []) {
      const [, name = '', value] = OPTION.exec(option) ?? [];
      values.set(name.toLowerCase(), value ?? '');
    }
    if (values.has('cert-authority'))
      return 'has cert-authority, which is not supported: list the keys themselves';
    const unknown = [...values.keys()].find((name) => !OPTIONS.includes(name));
    if (unknown !== undefined) return 'has an option that is not known';
    const time = (name: string) => (values.has(name) ? timeOf(values.get(name)) : undefined);
    const [after, before] = [time('valid-after'), time('valid-before')];
    if (Number.isNaN(after) || Number.isNaN(before))
      return 'has a time that is not YYYYMMDD[HHMM[SS]][Z]';
    return { ...key, principal, namespaces: values.get('namespaces')?.split(','), after, before };
  });
}

const OPTIONS = ['cert-authority', 'namespaces', 'valid-after', 'valid-before'];

/** Reads a list of public keys, one a line; gives their fingerprints. */
export function revokedKeys(text: string): ReadLines<string> {
  const { found, problems } = readLines(text, (line) => keyOf(words(line)));
  return { found: found.map(({ fingerprint }) => fingerprint), problems };
}

/** A namespace is allowed by a pattern and by no `!pattern`, as in match_pattern_list of OpenSSH. */
export function isNamespaceAllowed(patterns: readonly string[] | undefined, name: string): boolean {
  if (!patterns) return true;
  const fits = (pattern: string) => {
    const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(name);
  };
  const denied = patterns.some((each) => each.startsWith('!') && fits(each.slice(1)));
  return !denied && patterns.some((each) => fits(each));
}

/** `read` gives a sentence for a line that it cannot read. */
function readLines<T extends object>(
  text: string,
  read: (line: string) => T | string,
): ReadLines<T> {
  const found: T[] = [];
  const problems: string[] = [];
  text.split('\n').forEach((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return;
    const value = read(line);
    if (typeof value === 'string') problems.push(`${index + 1}: ${value}`);
    else found.push(value);
  });
  return { found, problems };
}

/** Words apart by spaces; quoted parts may have some. */
function words(line: string): string[] {
  const all = line.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  return all.map((word) => (/^"[^"]*"$/.test(word) ? word.slice(1, -1) : word));
}

function keyOf([type, base64]: readonly string[]): SshKey | string {
  const key =
    type !== undefined && base64 !== undefined && sshKey(type, Buffer.from(base64, 'base64'));
  return key || NO_KEY;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/;

/** Seconds since 1970; NaN if it is malformed. Without Z it is in the time zone of the server. */
function timeOf(text: string | undefined): number {
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone] =
    TIME.exec(text ?? '') ?? [];
  if (year === undefined) return Number.NaN;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`) / 1_000;
}
