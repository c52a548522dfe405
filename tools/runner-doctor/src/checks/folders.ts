/**
 * Whether the folders and files under the root belong to one account and are closed to others, and
 * whether nobody else can replace them from above: by the guards of `runner debug last-error`, and
 * what they let through that a timer of the account would stumble over.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { appNames } from '@runner/common/apps/store';
import { namesIn } from '@runner/common/files/read';
import { Failure, systemCode, systemFailure } from '@runner/common/foundation/failure';
import { chooseRoot, type Paths } from '@runner/common/foundation/paths';
import { trippedGuards } from '@runner/common/guards/check';
import { word } from '@runner/common/guards/mends';
import { mkeyFile } from '@runner/common/tokens/key-file';
import { type Found, orWell, type Patient, problem, warning } from '../finding.ts';

/** What others may do that is no matter of writing. */
const OTHERS_READ = 0o055;

/** What is there; undefined for what is not, or lies in a folder that may not be entered: that is told. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === 'EACCES') return undefined;
    throw systemFailure(error, `look at ${path}`, 'file_unreadable');
  }
}

/** What the names of a folder are; none where it may not be read. */
function unlessClosed(names: () => readonly string[]): readonly string[] {
  try {
    return names();
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

export function folders({ io, paths }: Patient): readonly Found[] {
  if (look(paths.root) === undefined)
    return [
      warning(
        `there is nothing at ${paths.root} yet: the first app makes it`,
        'runner add --repo <OWNER/NAME> --branch <BRANCH>',
      ),
    ];
  const root = lstatSync(realpathSync(paths.root));
  if (!root.isDirectory())
    return [problem(`${paths.root} is not a folder`, `ls -ld ${word(paths.root)}`)];
  if (io.uid !== 0 && io.uid !== root.uid)
    return [
      problem(
        `${paths.root} belongs to user ${root.uid}, and this is user ${io.uid}`,
        `sudo -u '#${root.uid}' runner doctor`,
      ),
    ];
  const apps = unlessClosed(() => appNames(paths));
  const states = apps.map((app) => paths.state(app));
  const spools = [paths.notifySpool, paths.auditSpool];
  const apart = [paths.locksDir, join(paths.root, 'apps'), dirname(paths.notifySpool), ...spools];
  const inside = [
    paths.stateDir,
    paths.logsDir,
    ...apart,
    paths.auditLog,
    paths.fetchLog,
    ...states,
  ];
  const mkey = mkeyFile(paths, io.env);
  const rootNamed = paths.root !== chooseRoot(undefined, io.env, () => io.cwd);
  const asker = { io, command: 'runner doctor', rootNamed };
  const tripped = trippedGuards(paths, inside, asker).filter(
    // The check of the keys tells of an open master key.
    ({ guard, path }) => guard !== 'readable' || path !== mkey,
  );
  const told = new Set(tripped.map(({ path }) => path));
  const foreign = [paths.config, mkey, ...inside, ...apps.flatMap((app) => foldersOf(paths, app))]
    .filter((path) => !told.has(path))
    .flatMap((path) => misowned(path, root.uid, paths))
    // The command for a folder mends what is in it.
    .filter(({ path }, _, all) => !all.some((other) => path.startsWith(`${other.path}/`)));
  return orWell(
    [
      ...tripped.map(({ why, mend }) => problem(why, mend)),
      ...foreign.map(({ found }) => found),
      ...closed([...new Set([paths.root, paths.stateDir, paths.logsDir, ...apart])], io, root.uid),
      ...[paths.stateDir, ...spools].flatMap((path) => open(path, '700')),
      ...states.flatMap((path) => open(path, '600')),
    ],
    `${paths.root} and what is in it belong to one user, and are closed to others`,
  );
}

/** The folders of an app that a deploy writes to. What apps share may belong to whom they run as. */
function foldersOf(paths: Paths, app: string): string[] {
  const { dir, repo, releases, instances } = paths.app(app);
  const built = unlessClosed(() => namesIn(releases)).map((name) => join(releases, name));
  const each = unlessClosed(() => namesIn(instances)).map((name) => join(instances, name));
  return [dir, repo, releases, ...built, instances, ...each];
}

/** A file of root is trusted, but the account that the root belongs to cannot read it. */
function misowned(path: string, account: number, paths: Paths): { path: string; found: Found }[] {
  const stat = look(path);
  if (stat === undefined || stat.uid === account || !path.startsWith(`${paths.root}/`)) return [];
  const whole = stat.isDirectory() ? `-R --from=${stat.uid} ` : '';
  const mend = `chown ${whole}--reference=${word(paths.root)} ${word(path)}`;
  const what = `${path} belongs to user ${stat.uid}, the root to user ${account}`;
  return [{ path, found: problem(what, mend) }];
}

/** Folders that their own account may not enter or write to; root may always. */
function closed(folders: readonly string[], io: Patient['io'], account: number): Found[] {
  if (io.uid !== account || account === 0) return [];
  return folders.flatMap((path) => {
    const stat = look(path);
    if (stat?.uid !== account || !stat.isDirectory() || (stat.mode & 0o700) === 0o700) return [];
    return [problem(`${path} is closed to its own user`, `chmod u+rwx ${word(path)}`)];
  });
}

/** What others need not read, although no secret lies open in it. */
function open(path: string, mode: string): Found[] {
  const stat = look(path);
  if (stat === undefined || (stat.mode & OTHERS_READ) === 0) return [];
  return [warning(`${path} can be read by others`, `chmod ${mode} ${word(path)}`)];
}
