/** Offers to add the host of an address to config.yml, on a terminal. */
import type { Context } from '@runner/common/cli/command';
import { editConfig } from '@runner/common/config/edit';
import { isElsewhere, unknownHost } from '@runner/common/config/repo-place';
import { Failure } from '@runner/common/foundation/failure';
import { isAppName } from '@runner/common/foundation/names';
import { harmlessLine } from '@runner/common/text/harmless';
import { ask, canAsk } from '@runner/common/tokens/prompt';

const TYPES = ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket', 'git'];

/** Asks what runs at the host of an address, unless it is known. Throws `interrupted` for a no. */
export async function offerHost(
  { io, paths, note }: Pick<Context, 'io' | 'paths' | 'note'>,
  address: string,
): Promise<void> {
  if (!canAsk(io) || !(await isElsewhere({ io, paths }, address))) return;
  const { name, git_url = '' } = unknownHost(address);
  // Without a valid address the refusal that follows says what to write.
  if (!isAppName(name) || git_url.includes('…')) return;
  const guess = TYPES.find((type) => name.includes(type)) ?? 'git';
  const shown = harmlessLine(name);
  const question = `${shown} is not in ${paths.config}. What runs there (${TYPES.join(', ')})? Enter adds it as ${guess}, no stops:`;
  const type = ask(io, question).trim().toLowerCase() || guess;
  if (!TYPES.includes(type)) throw new Failure('interrupted', 'cancelled, nothing was changed');
  const at = ['code_hosts', name];
  editConfig({ io, paths, command: 'add' }, [
    { path: [...at, 'type'], value: type },
    ...(git_url === '' ? [] : [{ path: [...at, 'git_url'], value: git_url }]),
  ]);
  note(`${shown} is in ${paths.config} now, as ${type}`);
}
