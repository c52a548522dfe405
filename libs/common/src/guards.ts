/**
 * Whether what lies under the root can be believed: nobody but its owners could have written it, and
 * nobody could have read its secrets. The rules are those of sshd's StrictModes, up to the root of the
 * file system; unlike there, a sticky folder above the root (/tmp) may be open to all, because what
 * others own in it is refused by its owner.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { isConfigExposed, isStateExposed } from './exposure.ts';
import { Failure } from './failure.ts';
import type { Env } from './io.ts';
import { credentialFile, isKeyExposed, mkeyFile } from './key-file.ts';
import type { Paths } from './paths.ts';

/** `writable` and `readable` are told of others, the group included. */
export type Guard = 'writable' | 'readable' | 'owner' | 'symlink' | 'hard_link';

/** A guard that tripped. */
export interface Tripped {
  readonly guard: Guard;
  readonly path: string;
  /** A clause that says what is wrong. */
  readonly why: string;
  /** The command that mends it. */
  readonly mend: string;
}

/** Who asks. */
export interface Asker {
  /** Effective user id. */
  readonly uid: number;
  readonly cwd: string;
  readonly env: Env;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Below what is no folder, or not to be entered: whoever reads it says so.
    return undefined;
  }
}

/** A path as a word of a shell. */
export function word(path: string): string {
  return /^[A-Za-z0-9_/.,:@%+=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Guards that trip on the key, config.yml and the given files (of the log and the registry), with every
 * folder above them, outermost first. What does not exist trips nothing.
 */
export function trippedGuards(paths: Paths, files: readonly string[], asker: Asker): Tripped[] {
  const tripped: Tripped[] = [];
  const named = mkeyFile(paths, asker.env);
  const mkey = isAbsolute(named) ? resolve(named) : resolve(asker.cwd, named);
  const keys = named === credentialFile(asker.env) ? [] : [mkey];
  let owners: readonly number[] | undefined;
  for (const path of wayTo([...files, paths.config, ...keys])) {
    const stat = look(path);
    if (stat === undefined) continue;
    const trip = (guard: Guard, why: string, mend: (at: string) => string) =>
      tripped.push({ guard, path, why: `${path} ${why}`, mend: mend(word(path)) });
    if (stat.isSymbolicLink()) {
      trip('symlink', 'is a symbolic link', () => mendOfLink(path, paths.root));
      continue;
    }
    if (stat.uid !== 0 && stat.uid !== asker.uid) owners ??= ownersOf(paths, asker.uid);
    if (owners?.includes(stat.uid) === false) {
      const owner = owners.at(-1) || 'root';
      trip('owner', `belongs to another user (uid ${stat.uid})`, (at) => `chown ${owner} ${at}`);
    }
    const isFolder = stat.isDirectory();
    const sticky = isFolder && (stat.mode & 0o1000) !== 0 && isAbove(path, paths.root);
    if ((stat.mode & 0o022) !== 0 && !sticky)
      trip('writable', 'can be written by others', (at) => `chmod go-w ${at}`);
    if (isFolder) continue;
    if (stat.nlink > 1)
      trip(
        'hard_link',
        'has another name (a hard link)',
        (at) => `cp -p ${at} ${at}.new && mv ${at}.new ${at}`,
      );
    const exposed =
      path === mkey
        ? isKeyExposed(path, asker.env)
        : path === paths.config
          ? isConfigExposed(paths)
          : dirname(path) === paths.stateDir && isStateExposed(path);
    if (exposed) trip('readable', 'holds secrets that others may read', (at) => `chmod 600 ${at}`);
  }
  return tripped;
}

/** Absolute paths and all folders above them, each once, outer ones first. */
function wayTo(files: readonly string[]): Set<string> {
  const way = new Set<string>();
  const add = (path: string) => {
    if (way.has(path)) return;
    if (path !== '/') add(path.slice(0, path.lastIndexOf('/')) || '/');
    way.add(path);
  };
  for (const file of files) add(file);
  return way;
}

function isAbove(path: string, root: string): boolean {
  return root.startsWith(path === '/' ? path : `${path}/`);
}

/**
 * Who may own: root and who asks. Root may also look after an installation of another user, which is
 * one when the root and its folders of the registry and the logs are all this user's.
 */
function ownersOf(paths: Paths, uid: number): number[] {
  if (uid !== 0) return [0, uid];
  const [account, ...others] = [paths.root, paths.stateDir, paths.logsDir].map(
    (path) => look(path)?.uid,
  );
  return account && others.every((other) => other === account) ? [0, account] : [0];
}

function mendOfLink(path: string, root: string): string {
  let target: string | undefined;
  try {
    target = realpathSync(path);
  } catch {
    return `rm ${word(path)}`;
  }
  if (path !== root && !isAbove(path, root))
    return `rm ${word(path)} && mv ${word(target)} ${word(path)}`;
  return `export RUNNER_ROOT=${word(target + root.slice(path.length))}`;
}

/** One sentence about all of them, with the commands. */
export function guardFailure(tripped: readonly Tripped[]): Failure {
  const clauses = tripped.map(({ why, mend }) => `${why}: run ${mend}`);
  return new Failure('guard_tripped', `not to be trusted: ${clauses.join('; ')}`, {
    guards: tripped,
  });
}
