/** Whether bubblewrap can run here, tried once per command. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import { harmlessLine } from '@runner/common/text/harmless';

/** For the attempt, in milliseconds: it takes 10. */
const PATIENCE = 10_000;

/** Where bubblewrap is, or why it cannot be used. */
export type Bubblewrap =
  | { readonly program: string }
  | { readonly problem: string; readonly fix: string };

/**
 * What every use needs. Root would keep its capabilities, and with them could undo the mounts; in a
 * user namespace, and without any, it cannot.
 */
export function namespaceOptions(): string[] {
  return process.geteuid?.() === 0 ? ['--unshare-user', '--cap-drop', 'ALL'] : [];
}

/** The folders of programs if the environment names none. */
export const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

let known: { readonly path: string; readonly found: Bubblewrap } | undefined;

/** Finds bubblewrap on PATH and tries it. */
export function bubblewrap({ PATH = USUAL_PATH }: Env): Bubblewrap {
  if (known?.path !== PATH) known = { path: PATH, found: tryOn(PATH) };
  return known.found;
}

function tryOn(path: string): Bubblewrap {
  const found = findProgram('bwrap', path);
  if (found === undefined)
    return { problem: 'bubblewrap is not installed', fix: sandboxFix(false) };
  const program = ownCopy(found);
  const mounts = ['--ro-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--dev', '/dev'];
  const { status, stderr, error } = spawnSync(
    program,
    [...namespaceOptions(), ...mounts, '/bin/true'],
    { env: {}, encoding: 'utf8', timeout: PATIENCE, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if (status === 0) return { program };
  const why = harmlessLine((stderr ?? '').trim().split('\n').at(-1) || String(error ?? status));
  const words = sandboxObstacle()?.words ?? why;
  return { problem: `bubblewrap cannot run here: ${words}`, fix: sandboxFix(true) };
}

/**
 * The copy of a bubblewrap that has a profile of AppArmor, beside the executables; the original where
 * there is none, or an older one.
 */
function ownCopy(program: string): string {
  const copy = orElse(() => join(dirname(realpathSync(process.argv[1] ?? '')), '../bwrap'), '');
  const isSame = () => {
    const [own, original] = [statSync(copy), statSync(program)];
    return own.size === original.size && own.mtimeMs === original.mtimeMs;
  };
  return orElse(isSame, false) && isExecutable(copy) ? copy : program;
}

/** The absolute path of a program; undefined if no absolute folder of `path` has it. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A setting of the kernel; undefined if it has none of that name. */
function readSysctl(name: string): string | undefined {
  const path = `/proc/sys/${name.replaceAll('.', '/')}`;
  return orElse(() => readTextIfThere(path, 4_096)?.trim(), undefined);
}

/** The setting, what it has if it is in the way, and what to do. */
const SETTINGS: readonly (readonly [name: string, closed: string, fix: string])[] = [
  ['kernel.unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  ['user.max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
  ['kernel.apparmor_restrict_unprivileged_userns', '1', '/usr/lib/runner/setup profile'],
];

/** The first setting of the kernel that forbids user namespaces, and what changes it; undefined if none does. */
export function sandboxObstacle(read = readSysctl) {
  const found = SETTINGS.find(([name, closed]) => read(name) === closed);
  if (!found) return undefined;
  const [name, closed, fix] = found;
  return { words: `the kernel forbids user namespaces (${name}=${closed})`, fix: `sudo ${fix}` };
}

/** The command that installs what is missing, or changes what is in the way. */
export function sandboxFix(isInstalled: boolean, read = readSysctl): string {
  if (!isInstalled) return 'sudo apt-get install bubblewrap';
  return sandboxObstacle(read)?.fix ?? 'bwrap --ro-bind / / --unshare-pid true';
}
