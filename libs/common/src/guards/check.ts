/**
 * Whether the files under the root can be trusted: only their owners could write them, and no other user
 * could read the secrets. The rules are those of sshd's StrictModes, up to `/`, except that a sticky
 * folder above the root (/tmp) may be writable by all, since files of others fail the owner check.
 */
import { dirname, isAbsolute, resolve } from 'node:path';
import { isViewer } from '../apps/viewed.ts';
import { Failure } from '../foundation/failure.ts';
import type { Paths } from '../foundation/paths.ts';
import { credentialFile, isKeyExposed, mkeyFile } from '../tokens/key-file.ts';
import { isConfigExposed, isStateExposed } from './exposure.ts';
import { type Asker, Fixes, isAbove, look } from './fixes.ts';

/** `writable` and `readable`: by other users, the group included. */
export type Guard = 'writable' | 'readable' | 'owner' | 'symlink' | 'hard_link';

export interface Tripped {
  readonly guard: Guard;
  readonly path: string;
  /** A clause that says what is wrong. */
  readonly why: string;
  /** The command that fixes it. */
  readonly fix: string;
}

/**
 * The guards that trip on the key, config.yml, the given files and every folder above them, outermost
 * first. A missing file trips none.
 */
export function trippedGuards(paths: Paths, files: readonly string[], asker: Asker): Tripped[] {
  const tripped: Tripped[] = [];
  const { io } = asker;
  const named = mkeyFile(paths, io.env);
  const mkey = isAbsolute(named) ? resolve(named) : resolve(io.cwd, named);
  const keys = named === credentialFile(io.env) ? [] : [mkey];
  let owners: readonly number[] | undefined;
  const fixes = new Fixes(paths.root, mkey, asker);
  for (const path of wayTo([...files, paths.config, ...keys])) {
    const stat = look(path);
    if (stat === undefined) continue;
    const trip = (guard: Guard, why: string, fix: string) =>
      tripped.push({ guard, path, why: `${path} ${why}`, fix });
    if (stat.isSymbolicLink()) {
      trip('symlink', 'is a symbolic link', fixes.link(path));
      continue;
    }
    if (stat.uid !== 0 && stat.uid !== io.uid) owners ??= ownersOf(paths, asker);
    if (owners?.includes(stat.uid) === false)
      trip('owner', `belongs to another user (uid ${stat.uid})`, fixes.owner(path, stat.uid));
    const isFolder = stat.isDirectory();
    const sticky = isFolder && (stat.mode & 0o1000) !== 0 && isAbove(path, paths.root);
    if ((stat.mode & 0o022) !== 0 && !sticky)
      trip('writable', 'can be written by others', fixes.mode('go-w', path, stat.uid));
    if (isFolder) continue;
    if (stat.nlink > 1)
      trip('hard_link', 'has a second name (a hard link)', fixes.hardLink(path, stat.uid));
    const exposed =
      path === mkey
        ? isKeyExposed(path, io.env)
        : path === paths.config
          ? isConfigExposed(paths)
          : dirname(path) === paths.stateDir && isStateExposed(path);
    if (exposed)
      trip('readable', 'has secrets that others can read', fixes.mode('600', path, stat.uid));
  }
  return tripped;
}

/** Absolute paths and all folders above them, each once, outermost first. */
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

/**
 * Trusted owners: root and the current user. For root, and for a user whom the server lets look, also the
 * owner of an installation, if the root, the registry and the logs all belong to that user.
 */
function ownersOf(paths: Paths, { io: { uid }, rootNamed }: Asker): number[] {
  // A root that someone else names might be theirs.
  if (uid !== 0 && (rootNamed || !isViewer(paths))) return [0, uid];
  const [account, ...others] = [paths.root, paths.stateDir, paths.logsDir].map(
    (path) => look(path)?.uid,
  );
  return account && others.every((other) => other === account) ? [0, uid, account] : [0, uid];
}

/**
 * One sentence about all of them, with the command that fixes them. If several commands are needed, each
 * is reported on its own line, so that it can be pasted.
 */
export function guardFailure(tripped: readonly Tripped[], note: (text: string) => void): Failure {
  const byFix = new Map<string, Tripped[]>();
  for (const each of tripped) byFix.set(each.fix, [...(byFix.get(each.fix) ?? []), each]);
  const clauses = [...byFix].map(([fix, [first, ...more]]) => {
    const others = more.length === 0 ? '' : `, and ${more.length} more like it`;
    return `${first?.why}${others}: run ${fix}`;
  });
  if (clauses.length > 1) for (const clause of clauses) note(clause);
  const what = clauses.length > 1 ? `${tripped.length} guards tripped, see above` : clauses[0];
  return new Failure('guard_tripped', `not to be trusted: ${what}`, {
    // The name of `fix` until the next version.
    guards: tripped.map((each) => ({ ...each, mend: each.fix })),
  });
}
