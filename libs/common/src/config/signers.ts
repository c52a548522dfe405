/** `commit_signers` and `approvers` in config.yml: where the keys are that may sign commits, or approvals. */
import type { Config } from './file.ts';
import { pick } from './settings.ts';

/** What the keys of a file sign. */
export type SignersFile = 'commit_signers' | 'approvers';

/** The path of the file, and whether config.yml chose it. Throws `config_invalid`. */
export function signersPathOf(
  config: Config,
  which: SignersFile = 'commit_signers',
): { path: string; isChosen: boolean } {
  const chosen = pick(config, [which], []).get(which) as string | undefined;
  return { path: chosen ?? `/etc/runner/${which}`, isChosen: chosen !== undefined };
}
