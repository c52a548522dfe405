/** What the attempts to escape from the sandbox reached. */
import type { Profile } from '@runner/deploy/sandbox/mounts';

/** absent: this server has nothing of the kind to attack. */
export type AttemptResult = 'reached' | 'stopped' | 'absent';

/** The profiles that are tried, each with the commands that have it. */
export const PROFILES = ['build', 'hook', 'app'] as const satisfies readonly Profile[];
