/** Whose commits may be deployed: root's files, which no commit and no build can change. */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readConfig } from '@runner/common/config/file';
import { type SignersFile, signersPathOf } from '@runner/common/config/signers';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { allowedSigners, type ListedKey, revokedKeys } from './allowed-signers.ts';
import { keyringOf, type PgpKeyring } from './openpgp.ts';

/** The keys that count. */
export interface CommitSigners {
  readonly path: string;
  /** By fingerprint; a key may have several lines. */
  readonly keys: ReadonlyMap<string, readonly ListedKey[]>;
  readonly revoked: ReadonlySet<string>;
  /** undefined: none count. */
  readonly openpgp: PgpKeyring | undefined;
}

const LIMIT = 4_194_304;
/** Mode bits: writable by group or others. */
const OTHERS = 0o022;

/** Reads the files. Throws `signers_invalid` for the first thing that is wrong with them. */
export function readSigners(paths: Paths, which?: SignersFile): CommitSigners {
  const { signers, problems } = examineSigners(paths, which);
  const [problem] = problems;
  if (problem === undefined) return signers;
  throw new Failure('signers_invalid', problem);
}

/** Reads the files, and says in a sentence each what is wrong with them. */
export function examineSigners(
  paths: Paths,
  which: SignersFile = 'commit_signers',
): {
  signers: CommitSigners;
  problems: readonly string[];
} {
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
  const gpg = read(`${path}.gpg`);
  const openpgp = gpg && keyringOf(gpg);
  if (gpg && !openpgp)
    problems.push(
      `${path}.gpg has something that is not an OpenPGP key, or none: export the keys again`,
    );
  const isEmpty = keys.size === 0 && !openpgp && problems.length === 0;
  if (isEmpty)
    problems.push(
      listed.isThere
        ? `${path} lists no key`
        : `there is no ${path}: list in it the keys that sign ${which === 'approvers' ? 'approvals' : 'commits'}, as root`,
    );
  return { signers: { path, keys, revoked, openpgp }, problems };
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
