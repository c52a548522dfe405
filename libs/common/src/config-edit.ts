/** Changing config.yml: written whole, comments and order kept, under the registry's lock. */
import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { sweepStrays, writeWhole } from './atomic-write.ts';
import { CONFIG_MAX, type ConfigChange, editedYaml, readYaml } from './config.ts';
import { Failure, systemFailure } from './failure.ts';
import { isThere, makeFolder, readIfThere } from './files.ts';
import type { Io } from './io.ts';
import { requireLock } from './lock.ts';
import type { Paths } from './paths.ts';
import type { FileName } from './schema.ts';
import { notifySettingsOf } from './settings.ts';

/** Longest wait for another command's change, in seconds; a change takes milliseconds. */
const EDIT_WAIT = 20;

/**
 * Tells before anybody is asked anything that config.yml cannot be changed. Throws `not_writable`.
 */
export function requireWritable(paths: Paths): void {
  let folder = dirname(paths.config);
  while (!isThere(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (!statSync(folder).isDirectory())
      throw new Failure('not_writable', `${folder} is not a folder`);
  } catch (error) {
    throw systemFailure(error, `write ${paths.config}`);
  }
}

/**
 * Changes keys of config.yml under the registry's lock, from what is on disk at that moment, and
 * writes it whole, readable by its owner alone. Comments, order and unknown keys stay; a credential
 * of `notify` is changed where it stands, at the top level in the earlier layout. A file that is not
 * there begins with `head`, comment lines. Without a change nothing is written. Throws
 * `config_invalid`, `file_unreadable`, `locked`, `not_writable` or `disk_full`; the file is untouched
 * then.
 */
export function editConfig(
  paths: Paths,
  io: Pick<Io, 'now' | 'pid'>,
  command: string,
  changes: readonly ConfigChange[],
  head = '',
): void {
  const holder = { pid: io.pid, command, since: io.now().toISOString() };
  const lock = requireLock(paths.registryLock, 'the registry', EDIT_WAIT, holder);
  try {
    const file: FileName = { name: paths.config, code: 'config_invalid' };
    const before = readIfThere(paths.config, CONFIG_MAX)?.toString('utf8') ?? head;
    const after = editedYaml(before, changes, file);
    if (after === before) return;
    // What was written must be readable again, and legal.
    notifySettingsOf({ file, tree: readYaml(Buffer.from(after), file) }, {});
    makeFolder(dirname(paths.config));
    sweepStrays(dirname(paths.config), io.now());
    if (isThere(paths.config)) chmodSync(paths.config, 0o600);
    writeWhole(paths.config, after);
  } finally {
    lock.release();
  }
}
