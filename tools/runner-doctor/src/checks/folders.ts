/**
 * Whether the folders and files under the root belong to one account and are closed to others, and
 * whether nobody else can replace them from above.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { appNames } from '@runner/common/apps';
import { configExposure } from '@runner/common/exposure';
import { systemFailure } from '@runner/common/failure';
import type { Paths } from '@runner/common/paths';
import { type Found, orWell, type Patient, problem, shellWord, warning } from '../finding.ts';

/** Any bit of the group or of others. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** What is there; undefined for what is not. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw systemFailure(error, `look at ${path}`, 'file_unreadable');
  }
}

export function folders({ io, paths }: Patient): readonly Found[] {
  const root = look(paths.root);
  if (root === undefined)
    return [
      warning(
        `there is nothing at ${paths.root} yet: the first app makes it`,
        'runner add --repo <OWNER/NAME> --branch <BRANCH>',
      ),
    ];
  const real = realpathSync(paths.root);
  const account = lstatSync(real).uid;
  if (!lstatSync(real).isDirectory())
    return [problem(`${paths.root} is not a folder`, `ls -ld ${shellWord(paths.root)}`)];
  if (io.uid !== 0 && io.uid !== account)
    return [
      problem(
        `${paths.root} belongs to user ${account}, and this is user ${io.uid}`,
        `sudo -u '#${account}' runner doctor`,
      ),
    ];
  const inside = [...foldersOf(paths), ...filesOf(paths)];
  return orWell(
    [
      ...above(real, account),
      ...inside.flatMap((path) => judged(path, account, paths)),
      ...closed(paths),
    ],
    `${paths.root} and what is in it belong to one user, and are closed to others`,
  );
}

function foldersOf(paths: Paths): string[] {
  const spools = [paths.notifySpool, paths.auditSpool];
  return [
    dirname(paths.notifySpool),
    ...spools,
    paths.stateDir,
    paths.logsDir,
    paths.locksDir,
  ].concat(join(paths.root, 'apps'));
}

/** Files that no link may stand for: they are never followed. */
function filesOf(paths: Paths): string[] {
  const states = appNames(paths).map((app) => paths.state(app));
  return [paths.config, paths.mkey, paths.auditLog, paths.fetchLog, ...states];
}

/** The folders from the root up to `/`: who can write there can put another root in its place. */
function above(path: string, account: number): Found[] {
  const stat = lstatSync(path);
  const at = shellWord(path);
  const found: Found[] = [];
  if (stat.uid !== 0 && stat.uid !== account)
    found.push(
      problem(
        `${path} belongs to user ${stat.uid}, who could replace what is in it`,
        `chown root ${at}`,
      ),
    );
  // In a sticky folder, as /tmp is one, nobody replaces what is another's.
  if ((stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0)
    found.push(problem(`${path} can be written by others`, `chmod go-w ${at}`));
  return dirname(path) === path ? found : [...above(dirname(path), account), ...found];
}

function judged(path: string, account: number, paths: Paths): Found[] {
  const stat = look(path);
  if (stat === undefined) return [];
  const at = shellWord(path);
  if (stat.isSymbolicLink())
    return [problem(`${path} is a link, which is not followed`, `ls -l ${at}`)];
  const found: Found[] = [];
  if (stat.uid !== account)
    found.push(
      problem(
        `${path} belongs to user ${stat.uid}, the root to user ${account}`,
        `chown --reference=${shellWord(paths.root)} ${at}`,
      ),
    );
  if ((stat.mode & OTHERS_WRITE) !== 0)
    found.push(problem(`${path} can be written by others`, `chmod go-w ${at}`));
  return found;
}

/** What others may not read. The check of the keys tells of an open master key. */
function closed(paths: Paths): Found[] {
  const exposure = configExposure(paths);
  const states = appNames(paths).map((app) => [paths.state(app), '600'] as const);
  const secret = [
    [paths.stateDir, '700'],
    [paths.notifySpool, '700'],
    [paths.auditSpool, '700'],
    ...states,
  ] as const;
  return [
    ...(exposure
      ? [
          problem(
            `others may read the secrets in ${paths.config}`,
            `chmod 600 ${shellWord(paths.config)}`,
          ),
        ]
      : []),
    ...secret.flatMap(([path, mode]) => {
      const stat = look(path);
      if (stat === undefined || (stat.mode & OTHERS & ~OTHERS_WRITE) === 0) return [];
      return [warning(`${path} can be read by others`, `chmod ${mode} ${shellWord(path)}`)];
    }),
  ];
}
