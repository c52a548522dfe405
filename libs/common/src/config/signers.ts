/** `commit_signers` in config.yml: where the keys are that may sign commits. */
import type { Config } from './file.ts';
import { pick } from './settings.ts';

const DEFAULT = '/etc/runner/commit_signers';

/** The path of the file, and whether config.yml chose it. Throws `config_invalid`. */
export function signersPathOf(config: Config): { path: string; isChosen: boolean } {
  const chosen = pick(config, ['commit_signers'], []).get('commit_signers') as string | undefined;
  return { path: chosen ?? DEFAULT, isChosen: chosen !== undefined };
}
