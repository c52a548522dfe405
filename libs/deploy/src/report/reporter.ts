/** Where a deploy tells how it goes; the tools draw it. */

/** Hears of each step as it begins and ends. */
export interface Reporter {
  /** A step begins. */
  begin(step: string): void;
  /** The step that began last has ended well. */
  done(): void;
  /** The step that began last has failed. */
  failed(): void;
  /** Output of a running step, redacted. */
  output(text: string): void;
  /** Something that a person should know and that changes nothing. */
  note(text: string): void;
}

/** Runs a step between `begin` and `done` or `failed`. */
export async function reported<T>(
  reporter: Reporter,
  step: string,
  body: () => T | Promise<T>,
): Promise<T> {
  reporter.begin(step);
  try {
    const result = await body();
    reporter.done();
    return result;
  } catch (error) {
    reporter.failed();
    throw error;
  }
}

/** A reporter that cleans what it is told of secrets: a command may hold one. */
export function redacting(reporter: Reporter, redact: (text: string) => string): Reporter {
  return {
    ...reporter,
    begin: (step) => reporter.begin(redact(step)),
    note: (text) => reporter.note(redact(text)),
  };
}

/** The same without its steps: where the answer itself tells them. */
export function withoutSteps(reporter: Reporter): Reporter {
  return { ...reporter, begin: () => {}, done: () => {}, failed: () => {} };
}
