/** What the attempts to escape from the sandbox reached. */
import type { SandboxMode } from '@runner/common/config/sandbox';
import type { Profile } from '@runner/deploy/sandbox/mounts';

/** absent: this server has nothing of the kind to attack. */
export type AttemptResult = 'reached' | 'stopped' | 'absent';

/** The profiles that are tried, each with the commands that have it. */
export const PROFILES = ['build', 'hook', 'app'] as const satisfies readonly Profile[];

/** A result per profile; null if the sandbox cannot run. */
type Results = { readonly [name in (typeof PROFILES)[number]]: AttemptResult | null };

/** One row of the table. */
export interface Tried extends Results {
  readonly group: string;
  readonly attempt: string;
  readonly without: AttemptResult;
  /** Profiles that may do this. */
  readonly open_to: readonly Profile[];
}

/** What `runner doctor --sandbox` prints. */
export interface SandboxReport {
  /** Whether commands run in the sandbox, and no attempt escaped. */
  readonly holds: boolean;
  /** Of this server. */
  readonly mode: SandboxMode;
  /** Apps whose commands run without the sandbox although the mode says otherwise. */
  readonly off_for: readonly string[];
  /** Why the sandbox cannot run here; null if it can. */
  readonly problem: string | null;
  readonly escaped: number;
  readonly attempts: readonly Tried[];
}
