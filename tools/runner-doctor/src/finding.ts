/** What a check finds. */
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';

/** How bad it is. */
export type Level = 'ok' | 'warning' | 'problem';

/** The checks, in the order in which they are told. */
export const CHECKS = [
  'folders',
  'keys',
  'config',
  'tokens',
  'chats',
  'timers',
  'disk',
  'programs',
  'clock',
  'deploys',
  'spool',
  'logs',
] as const;
/** Name of a check. */
export type CheckName = (typeof CHECKS)[number];

/** One thing that was looked at. */
export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  /** One sentence without a full stop. */
  readonly message: string;
  /** The command that mends it; null when nothing has to be mended. */
  readonly mend: string | null;
}

/** What `runner doctor --json` prints. */
export interface Examination {
  readonly root: string;
  /** There is no problem; warnings may be. */
  readonly healthy: boolean;
  readonly problems: number;
  readonly warnings: number;
  /** Checks that were left out by `--offline`. */
  readonly skipped: readonly CheckName[];
  readonly findings: readonly Finding[];
}

/** A finding before it is known which check it is of. */
export type Found = Omit<Finding, 'check'>;

/** What a check may look at. */
export interface Patient {
  readonly io: Io;
  readonly paths: Paths;
  readonly offline: boolean;
}

/** Looks at one thing; a Failure that it throws is a problem of its own. */
export type Check = (patient: Patient) => Promise<readonly Found[]> | readonly Found[];

/** A finding that says all is well. */
export const ok = (message: string): Found => ({ level: 'ok', message, mend: null });

/** A finding that can wait. */
export const warning = (message: string, mend: string): Found => ({
  level: 'warning',
  message,
  mend,
});

/** A finding that keeps something from working, or opens it to others. */
export const problem = (message: string, mend: string): Found => ({
  level: 'problem',
  message,
  mend,
});

/** Those that are not ok; when there are none, that it is well. */
export function orWell(findings: readonly Found[], message: string): readonly Found[] {
  return findings.length > 0 ? findings : [ok(message)];
}
