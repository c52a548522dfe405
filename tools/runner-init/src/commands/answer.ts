/** What `init` answers. */
import type { ProposedSetting } from '@runner/common/deploy-file/write';
import type { Proof } from '@runner/deploy/proof/prove';
import type { Proposal } from '../stacks/propose.ts';
import { skeleton } from './text.ts';

/** What `init` prints. */
export interface InitAnswer {
  stack: string | null;
  /** The package manager. */
  manager: string | null;
  /** Folder of the app in the repository; empty at its top. */
  dir: string;
  /** The settings by their keys, such as `start.run`, each with its reason. */
  settings: { key: string; value: ProposedSetting['value']; reason: string | null }[];
  /** The folder that a web server serves; null if the app itself answers. */
  output: string | null;
  notes: string[];
  /** What keeps it from being deployed; null if nothing does. */
  missing: string | null;
  /** Folders of which one has to be chosen. */
  apps: string[];
  proof: Proof | null;
  /** The whole file. */
  file: string;
  /** Where it was written; null if it was not. */
  written: string | null;
}

const NOTHING: InitAnswer = {
  stack: null,
  manager: null,
  dir: '',
  settings: [],
  output: null,
  notes: [],
  missing: null,
  apps: [],
  proof: null,
  file: '',
  written: null,
};

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
