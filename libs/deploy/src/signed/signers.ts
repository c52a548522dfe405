/** Whose commits may be deployed: root's files, which no commit and no build can change. */
import type { SignersFile } from '@runner/common/config/signers';
import { Failure } from '@runner/common/foundation/failure';
import type { Paths } from '@runner/common/foundation/paths';
import { type ListedKeys, listedKeys } from '@runner/common/signed/listed';
import { keyringOf, type PgpKeyring } from './openpgp.ts';

/** The keys that count. */
export interface CommitSigners extends ListedKeys {
  /** undefined: none count. */
  readonly openpgp: PgpKeyring | undefined;
}

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
  const { signers, problems, isThere, read } = listedKeys(paths, which);
  const { path, keys } = signers;
  const gpg = read(`${path}.gpg`);
  const openpgp = gpg && keyringOf(gpg);
  if (gpg && !openpgp)
    problems.push(
      `${path}.gpg has something that is not an OpenPGP key, or none: export the keys again`,
    );
  const isEmpty = keys.size === 0 && !openpgp && problems.length === 0;
  if (isEmpty)
    problems.push(
      isThere
        ? `${path} lists no key`
        : `there is no ${path}: list in it the keys that sign ${which === 'approvers' ? 'approvals' : 'commits'}, as root`,
    );
  return { signers: { ...signers, openpgp }, problems };
}
