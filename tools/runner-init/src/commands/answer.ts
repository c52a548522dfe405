/** What `init` answers. */
import type { ProposedSetting } from '@runner/common/deploy-file/write';
import type { Proof } from '@runner/deploy/proof/prove';
import type { Proposal } from '../stacks/propose.ts';
import { skeleton } from './text.ts';

const NOTHING = {
  stack: null as string | null,
  /** The package manager. */
  manager: null as string | null,
  /** Folder of the app in the repository; empty at its top. */
  dir: '',
  /** The settings by their keys, such as `start.run`, each with its reason. */
  settings: [] as { key: string; value: ProposedSetting['value']; reason: string | null }[],
  /** The folder that a web server serves; null if the app itself answers. */
  output: null as string | null,
  notes: [] as string[],
  /** What keeps it from being deployed; null if nothing does. */
  missing: null as string | null,
  /** Folders of which one has to be chosen. */
  apps: [] as string[],
  proof: null as Proof | null,
  /** The whole file. */
  file: '',
  /** Where it was written; null if it was not. */
  written: null as string | null,
};
/** What `init` prints. */
export type InitAnswer = typeof NOTHING;

/** The answer about a repository that is understood. */
export function answerOf(
  { stack, manager, dir, notes, output }: Proposal,
  settings: readonly ProposedSetting[],
  rest: Pick<InitAnswer, 'proof' | 'file' | 'written'>,
): InitAnswer {
  const shown = settings.map(({ path, value, reason = null }) => ({
    key: path.join('.'),
    value,
    reason,
  }));
  const found = { stack, manager: manager ?? null, dir, settings: shown, output: output ?? null };
  return { ...NOTHING, ...found, notes: [...notes], ...rest };
}

/** The answer about one that is not, with a file to fill in. */
export const unknownAnswer = (missing: string, apps: readonly string[]): InitAnswer => ({
  ...NOTHING,
  missing,
  apps: [...apps],
  file: skeleton(missing),
});
