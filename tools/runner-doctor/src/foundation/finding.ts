import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';

export type Level = 'ok' | 'warning' | 'problem';

export interface Finding {
  /** Name of the check. */
  readonly check: string;
  readonly level: Level;
  /** One sentence without a full stop. */
  readonly message: string;
  /** The command that fixes it; null if there is nothing to fix. */
  readonly mend: string | null;
}

/** What `runner doctor --json` prints. */
export interface Examination {
  readonly root: string;
  /** No problems; there may be warnings. */
  readonly healthy: boolean;
  readonly problems: number;
  readonly warnings: number;
  /** Names of the checks that were skipped: `--offline`, or others could have changed files. */
  readonly skipped: readonly string[];
  readonly findings: readonly Finding[];
}

/** A finding without the name of its check. */
export type CheckResult = Omit<Finding, 'check'>;

export interface CheckContext {
  readonly io: Io;
  readonly paths: Paths;
  readonly offline: boolean;
}

/** A Failure that it throws becomes a problem. */
export type Check = (
  context: CheckContext,
) => Promise<readonly CheckResult[]> | readonly CheckResult[];

export const ok = (message: string): CheckResult => ({ level: 'ok', message, mend: null });

/** Something that can wait. */
export const warning = (message: string, mend: string): CheckResult => ({
  level: 'warning',
  message,
  mend,
});

/** Something that does not work, or is open to others. */
export const problem = (message: string, mend: string): CheckResult => ({
  level: 'problem',
  message,
  mend,
});

/** The findings, or `ok` if there are none. */
export function orOk(findings: readonly CheckResult[], message: string): readonly CheckResult[] {
  return findings.length > 0 ? findings : [ok(message)];
}
