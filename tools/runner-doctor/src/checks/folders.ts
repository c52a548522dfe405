/**
 * Whether the folders and files under the root belong to one account and are closed to others, and
 * whether nobody else can replace them from above: by the guards of `runner debug last-error`, and
 * what they let through that a timer of the account would stumble over.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { appNames } from '@runner/common/apps';
import { systemFailure } from '@runner/common/failure';
import { trippedGuards, word } from '@runner/common/guards';
import { mkeyFile } from '@runner/common/key-file';
import type { Paths } from '@runner/common/paths';
import { type Found, orWell, type Patient, problem, warning } from '../finding.ts';

/** What others may do that is no matter of writing. */
const OTHERS_READ = 0o055;

/** What is there; undefined for what is not. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw systemFailure(error, `look at ${path}`, 'file_unreadable');
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
  const states = appNames(paths).map((app) => paths.state(app));
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
  const tripped = trippedGuards(paths, inside, io).filter(
    // The check of the keys tells of an open master key.
    ({ guard, path }) => guard !== 'readable' || path !== mkey,
  );
  const told = new Set(tripped.map(({ path }) => path));
  return orWell(
    [
      ...tripped.map(({ why, mend }) => problem(why, mend)),
      ...[paths.config, mkey, ...inside]
        .filter((path) => !told.has(path))
        .flatMap((path) => misowned(path, root.uid, paths)),
      ...[paths.stateDir, ...spools].flatMap((path) => open(path, '700')),
      ...states.flatMap((path) => open(path, '600')),
    ],
    `${paths.root} and what is in it belong to one user, and are closed to others`,
  );
}

/** A file of root is trusted, but the account that the root belongs to cannot read it. */
function misowned(path: string, account: number, paths: Paths): Found[] {
  const owner = look(path)?.uid;
  if (owner === undefined || owner === account || !path.startsWith(`${paths.root}/`)) return [];
  return [
    problem(
      `${path} belongs to user ${owner}, the root to user ${account}`,
      `chown --reference=${word(paths.root)} ${word(path)}`,
    ),
  ];
}

/** What others need not read, although no secret lies open in it. */
function open(path: string, mode: string): Found[] {
  const stat = look(path);
  if (stat === undefined || (stat.mode & OTHERS_READ) === 0) return [];
  return [warning(`${path} can be read by others`, `chmod ${mode} ${word(path)}`)];
}
