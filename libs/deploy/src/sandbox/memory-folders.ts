/** Folders in memory for files of a root that must not be on a disk. */
import { join } from 'node:path';
import type { Env } from '@runner/common/foundation/io';

/** The package makes it, for the user `runner`. */
const SYSTEM = '/run/runner';

/** The folders of all roots: `/run/runner`, else one below the user's runtime folder. */
export function memoryFolders({ XDG_RUNTIME_DIR: own }: Env): string[] {
  return [SYSTEM, ...(own ? [join(own, 'runner')] : [])];
}

/** The same for one root; each app has a folder in it. */
export function memoryFoldersOf(root: string, env: Env): string[] {
  const { hash } = process.getBuiltinModule('node:crypto');
  const name = hash('sha256', root, 'hex').slice(0, 8);
  return memoryFolders(env).map((folder) => join(folder, name));
}
