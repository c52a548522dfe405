import { type Failure, systemCode } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';

export type Level = 'ok' | 'warning' | 'problem';

/** A finding without the name of its check. */
export interface CheckResult {
  readonly level: Level;
  /** One sentence without a full stop. */
  readonly message: string;
  /** The command that fixes it; null if there is nothing to fix. */
  readonly fix: string | null;
  /** What it is about; not printed. */
  readonly about?: FindingFacts;
}

/** What relates a finding to others. */
interface FindingFacts {
  /** The file or folder. */
  readonly path?: string | undefined;
  /** Code of the failure that it reports. */
  readonly code?: string;
  /** Whether a file could not be used for lack of permission. */
  readonly isDenied?: boolean;
}

/** What a check has found. */
export interface Finding extends CheckResult {
  /** Name of the check. */
  readonly check: string;
}

/** A finding as `runner doctor --json` prints it. */
export interface PrintedFinding extends Omit<Finding, 'about'> {
  /** Deprecated: the name of `fix` until the next version. */
  readonly mend: string | null;
}

/** A finding, several, or none; lists may nest. */
export type Findings = CheckResult | readonly Findings[];

export const flat = (found: Findings): readonly CheckResult[] =>
  'level' in found ? [found] : found.flatMap(flat);

/** A Failure that it throws becomes a problem. */
export type Check = (server: Server) => Promise<Findings> | Findings;

export const ok = (message: string): CheckResult => ({ level: 'ok', message, fix: null });

/** Something that can wait. */
export const warning = (message: string, fix: string): CheckResult => ({
  level: 'warning',
  message,
  fix,
});

/** Something that does not work, or is open to others. */
export const problem = (message: string, fix: string, about: FindingFacts = {}): CheckResult => ({
  level: 'problem',
  message,
  fix,
  about,
});

export function problemFrom({ code, message, cause }: Failure, fix: string): CheckResult {
  const path = (cause as NodeJS.ErrnoException | undefined)?.path;
  return problem(message, fix, { path, code, isDenied: systemCode(cause) === 'EACCES' });
}

/** The findings, or `ok` if there are none. */
export const orOk = (found: Findings, message: string): Findings =>
  flat(found).length > 0 ? found : ok(message);
