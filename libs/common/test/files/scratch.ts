/** Folders of a test file's own, removed when it ends. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Paths, pathsOf } from '@runner/common/foundation/paths';

const folders: string[] = [];

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runner-common-'));
  folders.push(folder);
  return folder;
}

/** The layout under a new empty root. */
export function freshRoot(): Paths {
  return pathsOf(join(scratch(), 'root'));
}

/** Writes a file for a test to find, its folder included. */
export function plant(path: string, content: string | Uint8Array, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}
