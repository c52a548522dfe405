/** How something is not as it was. */
import type { TreeChange } from './tree.ts';

/** One thing that is not as it was. */
export interface Difference {
  readonly what: 'release' | 'deploy_file' | 'unit' | 'link' | 'env' | 'statement' | 'log';
  /** Below the release, in the form of a tree; otherwise as it is on disk. */
  readonly path: string;
  /** `unsigned`: not by the server's key; `disagrees`: with the state, or with the audit log. */
  readonly change: TreeChange['change'] | 'unsigned' | 'disagrees';
}
