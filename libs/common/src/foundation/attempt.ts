/** Reading what may be missing, without a try block. */
import { Failure } from './failure.ts';

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
