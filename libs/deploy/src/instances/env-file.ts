/**
 * The secrets of an instance in a file in memory, for units (`EnvironmentFile=`) and for compose
 * (`--env-file`): the only files that are written outside the root.
 */
import { accessSync, constants, existsSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, removeIfThere } from '@runner/common/files/read';
import { writeUnsynced } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { memoryFoldersOf } from '../sandbox/hidden.ts';
import { appFolderOf, type Target } from './drivers/driver.ts';

/** f_type of tmpfs and ramfs. */
const IN_MEMORY = [0x01021994, 0x858458f6];

type EnvOwner = Pick<Target, 'app' | 'paths' | 'env'> & {
  readonly instance: Pick<Target['instance'], 'name'>;
};

/** The folder of a root: below `/run/runner`, else below the user's runtime folder. */
function foldersOf({ paths, env }: EnvOwner): string[] {
  return memoryFoldersOf(dirname(dirname(appFolderOf(paths))), env);
}

/** Whether files can be made below a folder of ours, and stay in memory. */
function isUsable(folder: string): boolean {
  const top = dirname(folder);
  // It may be there, or not to be made.
  orElse(() => mkdirSync(top, { mode: 0o711 }), undefined);
  const isOurs = () => {
    accessSync(top, constants.W_OK);
    return IN_MEMORY.includes(statfsSync(top).type);
  };
  return orElse(isOurs, false);
}

const fileIn = (folder: string, { app, instance }: EnvOwner) =>
  join(folder, app, `${instance.name}.env`);

/** Where the file of an instance is, or would be. Throws `not_writable` without a place in memory. */
export function envFileOf(place: EnvOwner): string {
  const folder = foldersOf(place).find(isUsable);
  if (folder !== undefined) return fileIn(folder, place);
  throw new Failure(
    'not_writable',
    `the secrets of '${place.app}' need a folder in memory: /run/runner or $XDG_RUNTIME_DIR must be a tmpfs that this user can write to`,
  );
}

/** The file of an instance, if there is one. */
export function existingEnvFile(place: EnvOwner): string | undefined {
  return foldersOf(place)
    .map((folder) => fileIn(folder, place))
    .find((path) => existsSync(path));
}

/** Writes the file before a start; an app without secrets gets no file. Throws `not_writable`. */
export function writeEnvFile(target: EnvOwner & Pick<Target, 'secrets'>): void {
  if (Object.keys(target.secrets).length === 0) {
    removeEnvFile(target);
    return;
  }
  const path = envFileOf(target);
  makeFolder(dirname(path), 0o700);
  writeUnsynced(path, envFileText(target.secrets));
}

/** Removes the file of an instance, if there is one. */
export function removeEnvFile(place: EnvOwner): void {
  const path = existingEnvFile(place);
  if (path !== undefined) removeIfThere(path);
}

/** The content of the file. Lines that systemd and compose read alike, byte for byte: between double quotes lines may break. */
export function envFileText(variables: Readonly<Record<string, string>>): string {
  const line = ([name, value]: [string, string]) =>
    `${name}="${value.replace(/[\\"$]/g, '\\$&')}"\n`;
  return Object.entries(variables).map(line).join('');
}
