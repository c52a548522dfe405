/** The ssh keys that root named in a file, which no commit and no build can change. */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readConfig } from '../config/file.ts';
import { type SignersFile, signersPathOf } from '../config/signers.ts';
import { readIfThere } from '../files/read.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { word } from '../text/shell.ts';
import { allowedSigners, type ListedKey, revokedKeys } from './allowed-signers.ts';

/** The keys that count. */
export interface ListedKeys {
  readonly path: string;
  /** By fingerprint; a key may have several lines. */
  readonly keys: ReadonlyMap<string, readonly ListedKey[]>;
  readonly revoked: ReadonlySet<string>;
}

const LIMIT = 4_194_304;
/** Mode bits: writable by group or others. */
const OTHERS = 0o022;

/** Reads the file and the list of revoked keys beside it; `read` reads more files of them. */
export function listedKeys(paths: Paths, which: SignersFile) {
  const { path, isChosen } = signersPathOf(readConfig(paths), which);
  const problems: string[] = [];
  // Who may write config.yml may choose another file anyway.
  const owners = [0, ...(isChosen ? [statSync(paths.config).uid] : [])];
  const read = (name: string): Buffer | undefined => {
    try {
      return readIfThere(name, LIMIT, (stat) => {
        for (const [each, found] of [
          [name, stat],
          [dirname(name), statSync(dirname(name))],
        ] as const)
          refuseForeign(each, found, owners);
      });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const lines = <T>(
    name: string,
    parse: (text: string) => { found: readonly T[]; problems: readonly string[] },
  ) => {
    const bytes = read(name);
    const parsed = parse(bytes?.toString('utf8') ?? '');
    problems.push(...parsed.problems.map((each) => `${name}:${each}`));
    return { isThere: bytes !== undefined, found: parsed.found };
  };
  const listed = lines(path, allowedSigners);
  const keys = new Map<string, ListedKey[]>();
  for (const key of listed.found)
    keys.set(key.fingerprint, [...(keys.get(key.fingerprint) ?? []), key]);
  const revoked = new Set(lines(`${path}.revoked`, revokedKeys).found);
  return { signers: { path, keys, revoked }, problems, isThere: listed.isThere, read };
}

function refuseForeign(path: string, { uid, mode }: Stats, owners: readonly number[]): void {
  const name = word(path);
  if (!owners.includes(uid))
    throw new Failure(
      'signers_invalid',
      `not to be trusted: ${path} belongs to uid ${uid}: run sudo chown root ${name}`,
    );
  if ((mode & OTHERS) !== 0)
    throw new Failure(
      'signers_invalid',
      `not to be trusted: ${path} can be written by others: run sudo chmod go-w ${name}`,
    );
}
