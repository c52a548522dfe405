/** Failures as tests compare them. */
import { Failure } from '@runner/common/foundation/failure';

function failureIn(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw new Error('something else than a Failure was thrown', { cause: error });
}

/** The Failure that `work` throws. An end without one, or any other error, fails the test. */
export function refusal(work: () => unknown): Failure {
  let value: unknown;
  try {
    value = work();
  } catch (error) {
    return failureIn(error);
  }
  throw new Error(`nothing was refused: ${JSON.stringify(value)}`);
}

/** The same for work that takes its time. */
export async function refusalOf(work: Promise<unknown>): Promise<Failure> {
  const value = await work.catch((error: unknown) => failureIn(error));
  if (value instanceof Failure) return value;
  throw new Error(`nothing was refused: ${JSON.stringify(value)}`);
}

/** A refusal as `code: message`. */
export function told(work: () => unknown): string {
  const { code, message } = refusal(work);
  return `${code}: ${message}`;
}
