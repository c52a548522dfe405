import { readFileSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';

/** Bytes that new processes can use without swapping; NaN if the kernel does not say. */
export function availableMemory(): number {
  const text = orElse(() => readFileSync('/proc/meminfo', 'latin1'), '');
  return Number(/^MemAvailable: +(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN) * 1024;
}
