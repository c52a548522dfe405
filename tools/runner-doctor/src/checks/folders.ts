/**
 * Whether the root and its files belong to one account, are closed to others, and cannot be replaced
 * through a parent folder. Uses the guards of `runner debug last-error`, and also finds what would stop
 * the account's timers.
 */

import { spawnSync } from 'node:child_process';
import { accessSync, constants, lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { allNames } from '@runner/common/apps/store';
import { namesIn } from '@runner/common/files/read';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import { systemCode, systemFailure } from '@runner/common/foundation/failure';
import { chooseRoot, DEFAULT_ROOT, type Paths, type Server } from '@runner/common/foundation/paths';
import { trippedGuards } from '@runner/common/guards/check';
import { word } from '@runner/common/text/shell';
import { mkeyFile } from '@runner/common/tokens/key-file';
import { grantsFolder } from '@runner/deploy/approval/grants';
import { type CheckResult, type Findings, orOk, problem, warning } from '../foundation/finding.ts';

/** Permissions of others except writing, which the guards check. */
const OTHERS_READ = 0o055;
const OTHERS_ENTER = 0o001;

/** Undefined if there is nothing, or in a closed folder, which is reported separately. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === 'EACCES') return undefined;
    throw systemFailure(error, `look at ${path}`, 'file_unreadable');
  }
}

/** A root that is to be made, if this user may. */
function missing(root: string): CheckResult {
  const above = dirname(root);
  const isClosed = look(above) && orElse(() => accessSync(above, constants.W_OK), true);
  if (isClosed) return problem(`you may not create ${root}`, 'export RUNNER_ROOT=~/runner');
  return warning(
    `${root} does not exist yet: adding the first app creates it`,
    'runner add --repo <OWNER/NAME> --branch <BRANCH>',
  );
}

export function folders({ io, paths }: Server): Findings {
  if (look(paths.root) === undefined) return missing(paths.root);
  const root = lstatSync(realpathSync(paths.root));
  if (!root.isDirectory())
    return problem(`${paths.root} is not a directory`, `ls -ld ${word(paths.root)}`, {
      path: paths.root,
    });
  if (io.uid !== 0 && io.uid !== root.uid)
    return problem(
      `${paths.root} belongs to user ${root.uid}, but you are user ${io.uid}`,
      paths.root === DEFAULT_ROOT
        ? 'sudo runner doctor'
        : `sudo -u '#${root.uid}' runner doctor --root ${word(paths.root)}`,
      { path: paths.root },
    );
  const apps = unlessFailure(() => allNames(paths), []);
  const states = apps.map((app) => paths.state(app));
  const spools = [paths.notifySpool, paths.auditSpool];
  const apart = [paths.locksDir, join(paths.root, 'apps'), dirname(paths.notifySpool), ...spools];
  const inside = [
    paths.stateDir,
    paths.logsDir,
    paths.viewDir,
    ...apart,
    paths.auditLog,
    paths.fetchLog,
    ...states,
  ];
  const mkey = mkeyFile(paths, io.env);
  const rootNamed = paths.root !== chooseRoot(undefined, io.env, () => io.cwd);
  const asker = { io, command: 'runner doctor', rootNamed };
  const tripped = trippedGuards(paths, inside, asker).filter(
    // A readable master key is reported by the `keys` check.
    ({ guard, path }) => guard !== 'readable' || path !== mkey,
  );
  const reported = new Set(tripped.map(({ path }) => path));
  const { stateDir, secretsDir, viewDir, logsDir, locksDir, plansDir, notifySpool } = paths;
  const own = [
    ...[stateDir, secretsDir, viewDir, logsDir, locksDir, plansDir, dirname(notifySpool)],
    ...apps.flatMap((app) => ownOf(paths, app)),
  ];
  const several = own.flatMap((path) => misownedIn(path, root.uid, paths));
  const known = [
    ...[paths.config, mkey, paths.statementKey, ...apps.flatMap((app) => foldersOf(paths, app))],
    ...[...inside, ...own.flatMap(within)],
  ];
  const foreign = [...new Set(known)]
    .filter((path) => !reported.has(path))
    .flatMap((path) => misowned(path, root.uid, paths))
    .concat(several);
  return orOk(
    [
      ...tripped.map(({ why, fix, path }) => problem(why, fix, { path })),
      ...outermost(foreign).map(({ found }) => found),
      closed([...new Set([paths.root, paths.stateDir, paths.logsDir, ...apart])], io, root.uid),
      ...[paths.stateDir, ...spools].flatMap((path) => open(path, '700')),
      ...states.flatMap((path) => open(path, '600')),
      unviewable(paths),
      closedGrants(io, root.uid, paths),
    ],
    `${paths.root} and its content belong to one user and are closed to others`,
  );
}

const VIEWERS = 'runner-view';

/** What keeps members of the group `runner-view` from the folders that the package opens to them. */
function unviewable({ root, viewDir, logsDir }: Paths): Findings {
  if (look(viewDir) === undefined) return [];
  const rights = [
    [root, 'x'],
    [viewDir, 'rX'],
    [logsDir, 'rX'],
  ] as const;
  return rights.flatMap(([path, right]) => {
    const { status, stdout } = spawnSync('getfacl', ['--omit-header', '--absolute-names', path], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    if (status !== 0 || new RegExp(`^group:${VIEWERS}:..x`, 'm').test(stdout)) return [];
    const entry = `g:${VIEWERS}:${right}`;
    const options = right === 'x' ? `-m ${entry}` : `-R -m ${entry},d:${entry}`;
    return warning(`${path} is closed to the group ${VIEWERS}`, `setfacl ${options} ${word(path)}`);
  });
}

/** An agent that sshd lets in is the root's account, and reads there what it may do. */
function closedGrants({ env }: Server['io'], account: number, { root }: Paths): Findings {
  const path = grantsFolder(env);
  const stat = look(path);
  if (!stat || stat.uid === account || (stat.mode & OTHERS_ENTER) !== 0) return [];
  const why = `${path} is closed to the account of ${root}: no agent can use its grant`;
  return problem(why, `chmod 755 ${word(path)}`);
}

/** What an app has of runner alone. */
function ownOf(paths: Paths, app: string): string[] {
  const { dir, repo, databaseBackups, instances, instance } = paths.app(app);
  const runs = unlessFailure(() => namesIn(instances), []).map((name) => instance(name).run);
  return [repo, join(dir, 'files'), databaseBackups, ...runs];
}

/** A path and everything below it, as far as this user can look. */
function within(path: string): string[] {
  const names = look(path)?.isDirectory() ? orElse(() => namesIn(path), []) : [];
  return [path, ...names.flatMap((name) => within(join(path, name)))];
}

/** The folders of an app that a deploy writes to, and files beside them. `shared/` may belong to the app's own user. */
function foldersOf(paths: Paths, app: string): string[] {
  const { dir, releases, instances } = paths.app(app);
  const direct = unlessFailure(() => namesIn(dir), []).map((name) => join(dir, name));
  const built = unlessFailure(() => namesIn(releases), []).map((name) => join(releases, name));
  const each = unlessFailure(() => namesIn(instances), []).map((name) => join(instances, name));
  return [dir, ...direct, ...built, ...each];
}

/** Files of another user: even those of the superuser, because the root's account cannot read them. */
function misowned(
  path: string,
  account: number,
  paths: Paths,
): { path: string; found: CheckResult }[] {
  const stat = look(path);
  if (stat === undefined || stat.uid === account || !path.startsWith(`${paths.root}/`)) return [];
  const whole = stat.isDirectory() ? `-R --from=${stat.uid} ` : '';
  const fix = `chown ${whole}--reference=${word(paths.root)} ${word(path)}`;
  const what = `${path} belongs to user ${stat.uid}, the root to user ${account}`;
  return [{ path, found: problem(what, fix, { path }) }];
}

/** Without those below another one: the command for a folder also fixes its content. */
function outermost<F extends { readonly path: string }>(all: readonly F[]): F[] {
  const paths = new Set(all.map(({ path }) => path));
  const isBelow = (path: string): boolean =>
    path !== dirname(path) && (paths.has(dirname(path)) || isBelow(dirname(path)));
  return all.filter(({ path }) => !isBelow(path));
}

/** From this number of files of another user in one folder, one command fixes the whole folder. */
const SEVERAL = 4;

function misownedIn(path: string, account: number, paths: Paths): ReturnType<typeof misowned> {
  const uids = within(path).flatMap((each) => look(each)?.uid ?? []);
  const others = uids.filter((uid) => uid !== account);
  if (others.length < SEVERAL || uids[0] !== account) return [];
  return [...new Set(others)].map((uid) => {
    const fix = `chown -R --from=${uid} --reference=${word(paths.root)} ${word(path)}`;
    const what = `${path} has files of user ${uid}, the root belongs to user ${account}`;
    return { path, found: problem(what, fix, { path }) };
  });
}

/** Folders that their own account cannot enter or write to; the superuser always can. */
function closed(folders: readonly string[], io: Server['io'], account: number): Findings {
  if (io.uid !== account || account === 0) return [];
  return folders.flatMap((path) => {
    const stat = look(path);
    if (stat?.uid !== account || !stat.isDirectory() || (stat.mode & 0o700) === 0o700) return [];
    return problem(`${path} is closed to its own user`, `chmod u+rwx ${word(path)}`, { path });
  });
}

/** Readable by others for no reason, although it contains no plain-text secret. */
function open(path: string, mode: string): Findings {
  const stat = look(path);
  if (stat === undefined || (stat.mode & OTHERS_READ) === 0) return [];
  return warning(`${path} can be read by others`, `chmod ${mode} ${word(path)}`);
}
