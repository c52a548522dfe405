/** Whether the keys that may sign commits can be read, where an app requires signatures. */
import { listApps } from '@runner/common/apps/store';
import { word } from '@runner/common/text/shell';
import { examineSigners } from '@runner/deploy/signed/signers';
import { type CheckContext, type CheckResult, ok, orOk, problem } from '../foundation/finding.ts';

export function signers({ paths }: CheckContext): readonly CheckResult[] {
  const apps = listApps(paths).apps.filter(({ require_signed: required }) => required);
  if (apps.length === 0) return [ok('no app requires signed commits')];
  const { signers: found, problems } = examineSigners(paths);
  const well = `${found.path} lists ${found.keys.size} keys`;
  return orOk(
    problems.map((each) => problem(each, fixOf(each, found.path))),
    well,
  );
}

/** The command that the sentence ends with, else an editor. */
function fixOf(words: string, path: string): string {
  const named = /: run (sudo .*)$/.exec(words)?.[1];
  return named ?? `sudo \${EDITOR:-vi} ${word(path)}`;
}
