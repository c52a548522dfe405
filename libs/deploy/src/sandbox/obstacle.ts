/** Why bubblewrap cannot make a user namespace here, and the command that changes it. */
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';

/** What keeps the sandbox from working. */
export interface SandboxObstacle {
  readonly words: string;
  readonly fix: string;
}

/** A setting of the kernel; undefined if it has none of that name. */
export type ReadSysctl = (name: string) => string | undefined;

const readSysctl: ReadSysctl = (name) => {
  const path = `/proc/sys/${name.replaceAll('.', '/')}`;
  return orElse(() => readTextIfThere(path, 4_096)?.trim(), undefined);
};

/** The setting, what it has if it is in the way, and what to do. */
const SETTINGS: readonly (readonly [name: string, closed: string, fix: string])[] = [
  ['kernel.unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
  ['user.max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
  ['kernel.apparmor_restrict_unprivileged_userns', '1', '/usr/lib/runner/setup profile'],
];

/** The first setting of the kernel that forbids user namespaces; undefined if none does. */
export function sandboxObstacle(read: ReadSysctl = readSysctl): SandboxObstacle | undefined {
  const found = SETTINGS.find(([name, closed]) => read(name) === closed);
  if (!found) return undefined;
  const [name, closed, fix] = found;
  return { words: `the kernel forbids user namespaces (${name}=${closed})`, fix: `sudo ${fix}` };
}

/** The command that installs what is missing, or changes what is in the way. */
export function sandboxFix(isInstalled: boolean, read?: ReadSysctl): string {
  if (!isInstalled) return 'sudo apt-get install bubblewrap';
  return sandboxObstacle(read)?.fix ?? 'bwrap --ro-bind / / --unshare-pid true';
}
