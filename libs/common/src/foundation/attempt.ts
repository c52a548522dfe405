/** What may be missing or fail, without a try block. */
import { closeSync } from 'node:fs';
import { Failure, type FailureCode, systemFailure } from './failure.ts';

/** What `read` returns; `otherwise` if it throws anything. */
export function orElse<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** What `read` returns; `otherwise` if it throws a Failure. Any other error passes through. */
export function unlessFailure<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure) return otherwise;
    throw error;
  }
}

/** The Failure that `action` throws; undefined if it throws none. Any other error passes through. */
export function failureIn(action: () => void): Failure | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/** For `catch`: a Failure becomes what `answer` makes of it. Any other error passes through. */
export function onFailure<T>(answer: (failure: Failure) => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Failure) return answer(error);
    throw error;
  };
}

/** What `action` returns; an operating-system error becomes the Failure `cannot <doing>: …`, as of `systemFailure`. */
export function orFail<T>(action: () => T, doing: string, otherwise?: FailureCode): T {
  try {
    return action();
  } catch (error) {
    throw systemFailure(error, doing, otherwise);
  }
}

/** With `using`: closes a descriptor at the end of the block. */
export function closing(fd: number): Disposable {
  return { [Symbol.dispose]: () => closeSync(fd) };
}
