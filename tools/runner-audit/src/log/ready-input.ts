/** Reads standard input without blocking. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode } from '@runner/common/foundation/failure';
import type { InputStream } from '@runner/common/foundation/io';

const BLOCK = 65_536;

/** Returns the bytes that are ready, undefined if there are none yet, null at the end. */
export type ReadReady = () => Uint8Array | null | undefined;

/**
 * Files are always ready. A pipe is opened a second time, because the original file description is
 * shared with other programs and must stay blocking. Anything else cannot be read without blocking.
 */
export function readyReader({ fd }: InputStream): { read: ReadReady; close(): void } {
  let own = -1;
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO())
      own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    else if (stat.isFile()) own = fd;
  } catch {
    // Another user's pipe, or no /proc: each read is one batch.
  }
  const buffer = Buffer.allocUnsafeSlow(BLOCK);
  return {
    read() {
      if (own === -1) return undefined;
      try {
        const length = readSync(own, buffer, 0, BLOCK, null);
        return length === 0 ? null : Buffer.from(buffer.subarray(0, length));
      } catch (error) {
        if (systemCode(error) === 'EAGAIN') return undefined;
        throw error;
      }
    },
    close() {
      if (own !== -1 && own !== fd) closeSync(own);
    },
  };
}
