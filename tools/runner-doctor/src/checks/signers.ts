/** Whether the keys that may sign commits can be read, where an app requires signatures. */

import { listApps } from '@runner/common/apps/store';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { counted } from '@runner/common/text/words';
import { examineSigners } from '@runner/deploy/signed/signers';
import { type Findings, ok, orOk, problem } from '../foundation/finding.ts';

export function signers({ paths }: Server): Findings {
  const apps = listApps(paths).apps.filter(({ require_signed: required }) => required);
  if (apps.length === 0) return ok('no app requires signed commits');
  const { signers: found, problems } = examineSigners(paths);
  const pgp = found.openpgp
    ? `, ${found.path}.gpg ${counted(found.openpgp.count, 'key')} of OpenPGP`
    : '';
  const well = `${found.path} lists ${counted(found.keys.size, 'key')}${pgp}`;
  return orOk(
    problems.map((each) => problem(each, fixOf(each, found.path))),
    well,
  );
}

/** The command that the sentence ends with, else an editor. */
function fixOf(words: string, path: string): string {
  const named = /: run (sudo .*)$/.exec(words)?.[1];
  const other = ['.gpg', '.revoked'].find((end) => words.includes(`${path}${end}`)) ?? '';
  if (words.startsWith(`${path}.gpg`))
    return `gpg --armor --export KEY... | sudo tee ${word(path)}.gpg`;
  return named ?? `sudo \${EDITOR:-vi} ${word(`${path}${other}`)}`;
}
