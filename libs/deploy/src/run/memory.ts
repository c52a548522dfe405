import { readFileSync } from 'node:fs';

/** Bytes that new processes can use without swapping; NaN if the kernel does not say. */
export function availableMemory(): number {
  try {
    const text = readFileSync('/proc/meminfo', 'latin1');
    return Number(/^MemAvailable: +(\d+) kB$/m.exec(text)?.[1] ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}
