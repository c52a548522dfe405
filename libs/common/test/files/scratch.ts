/** Folders of a test file's own, removed when it ends. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Paths, pathsOf } from '@runner/common/foundation/paths';
import { temporaryFolder } from '@runner/testing/temp';

/** A new empty folder. */
export const scratch = (): string => temporaryFolder('common');

/** The layout under a new empty root. */
export function freshRoot(): Paths {
  return pathsOf(join(scratch(), 'root'));
}

/** Writes a file for a test to find, its folder included. */
export function plant(path: string, content: string | Uint8Array, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}
