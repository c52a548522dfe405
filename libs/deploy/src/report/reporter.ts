/** Reporting the progress of a deploy, which the tools draw. */
import type { DeployEvent } from '@runner/common/audit/events';

/** Gets each step as it begins and ends. */
export interface Reporter {
  begin(step: string): void;
  done(): void;
  failed(): void;
  skipped(why: string): void;
  /** Output of a running step, redacted. */
  output(text: string): void;
  /** A remark for the user; it changes nothing. */
  note(text: string): void;
  /** An event as it stands in the audit log, or waits to be appended. */
  recorded?(event: DeployEvent): void;
}

/** Runs a step between `begin` and `done` or `failed`; if `skipped` says why it did not take place, `skipped`. */
export async function reported<T>(
  reporter: Reporter,
  step: string,
  body: () => T | Promise<T>,
  skipped?: (result: T) => string | undefined,
): Promise<T> {
  reporter.begin(step);
  try {
    const result = await body();
    const why = skipped?.(result);
    if (why === undefined) reporter.done();
    else reporter.skipped(why);
    return result;
  } catch (error) {
    reporter.failed();
    throw error;
  }
}

/** Redacts what is reported: a command may contain a secret. */
export function redacting(reporter: Reporter, redact: (text: string) => string): Reporter {
  return {
    ...reporter,
    begin: (step) => reporter.begin(redact(step)),
    skipped: (why) => reporter.skipped(redact(why)),
    note: (text) => reporter.note(redact(text)),
  };
}

/** Leaves the steps out, for output that has them anyway. */
export function withoutSteps(reporter: Pick<Reporter, 'note' | 'recorded'>): Reporter {
  const none = () => {};
  return { ...reporter, begin: none, done: none, failed: none, skipped: none, output: none };
}
