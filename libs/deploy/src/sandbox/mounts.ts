/** What a command sees of the file system: the options of bubblewrap for each profile. */
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Folder, inFolder, type Name } from '@runner/common/files/tree';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { guardedOptions, type NetworkGuard, resolverOptions, TRIES } from './guarded.ts';
import {
  agentFolders,
  databaseFolders,
  hiddenFolders,
  isWithin,
  memoryFoldersOf,
  ownLogFolders,
  programsBelow,
  realFolder,
  realFolders,
  resolverFolder,
  supervisorPaths,
} from './hidden.ts';
import { homeOptions } from './home.ts';
import { namespaceOptions } from './probe.ts';

/**
 * `build`: writes its release and the shared files. `hook`, also for health checks: writes what is the
 * app's. `app`, which starts or stops it: the same and its slot, and what it starts may outlive it. `pm2`,
 * `docker`: the client of a supervisor, which it can reach.
 */
export type Profile = 'build' | 'hook' | 'app' | 'pm2' | 'docker';

export interface Confined {
  readonly paths: Paths;
  readonly app: string;
  readonly env: Env;
  /** Further folders that its commands find empty. */
  readonly hidden?: readonly string[] | undefined;
}

/** Folders of one deploy that are removed after it. */
export const scratchIn = (folder: string) => ({
  /** Stands for /tmp in its builds. */
  temporary: join(folder, 'tmp'),
  /** The temporary layer of HOME in its builds. */
  home: join(folder, 'home'),
  /** Files by which its commands find the guard of their network. */
  network: join(folder, 'network'),
});

/** What they may use in addition to what is the app's. */
interface SandboxSubject extends Confined {
  /** Further paths that it may use, links resolved. */
  readonly allow: readonly string[];
  readonly scratch: () => ReturnType<typeof scratchIn>;
  /** Path of bubblewrap. */
  readonly program: string;
}

/** What a command may write to of its app. */
export interface Folders {
  /** The one it runs in. */
  readonly release: string;
  readonly shared: string;
  /** Where an app with slots makes its socket. */
  readonly slot?: string | undefined;
  /** A further folder below the releases. */
  readonly copy?: string | undefined;
  /** Whether a command has the network, or what carries it; absent: it has. */
  readonly network?: boolean | NetworkGuard | undefined;
}

const bind = (path: string, at = path) => ['--bind-try', path, at];
const readOnly = (path: string, at = path) => ['--ro-bind-try', path, at];
const empty = (path: string) => ['--tmpfs', path];
const device = (path: string) => ['--dev-bind-try', path, path];

const realOr = (path: string) => realFolder(path) ?? path;

/** Of a /proc of its own bubblewrap leaves these writable for root. */
const KERNEL = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'];

/** Options for a command of an app in a profile. Throws `not_writable`. */
export function mountsFor(profile: Profile, subject: SandboxSubject, folders: Folders): string[] {
  const isBuild = profile === 'build';
  const { allow, program } = subject;
  const { network = true } = folders;
  const isAbove = (path: string) => isWithin(path, realOr(subject.paths.root));
  // Root may write everywhere, and set up the kernel: what it runs for a commit may not.
  const isRoot = process.geteuid?.() === 0;
  return [
    ...namespaceOptions(),
    ...['--new-session', '--unshare-pid'],
    ...(isBuild || profile === 'hook' ? ['--die-with-parent'] : []),
    ...(isBuild ? ['--unshare-ipc', '--unshare-uts'] : []),
    ...(network === false ? ['--unshare-net'] : []),
    ...[isBuild || isRoot ? '--ro-bind' : '--bind', '/', '/'],
    // A user's own control groups could be frozen or killed there.
    ...readOnly('/sys'),
    ...(typeof network === 'object' ? guardedOptions(program) : ['--dev', '/dev']),
    ...['--proc', '/proc'],
    ...(isRoot ? KERNEL.flatMap((path) => readOnly(path)) : []),
    ...(isRoot && typeof network === 'object' ? bind(TRIES) : []),
    ...server(profile, subject),
    // What is allowed above the root does not uncover it.
    ...allow.filter(isAbove).flatMap(device),
    ...root(profile, subject, folders),
    ...allow.filter((path) => !isAbove(path)).flatMap(device),
    ...(typeof network === 'object' ? resolverOptions(subject.scratch().network) : []),
  ];
}

const TEMPORARY = ['/tmp', '/var/tmp'];

/** What of the server is hidden, and what of that is opened again. */
function server(profile: Profile, { paths, app, env, scratch, ...more }: SandboxSubject): string[] {
  const isBuild = profile === 'build';
  const hidden = [...hiddenFolders(env), ...realFolders(more.hidden ?? [])];
  const temporary = realFolders([...TEMPORARY, env.TMPDIR]);
  const isBelow = (path: string) => hidden.some((folder) => isWithin(folder, path));
  const open = (path: string) => bind(isBuild ? scratch().temporary : path, path);
  return [
    ...temporary.filter((path) => !isBelow(path)).flatMap(open),
    ...hidden.flatMap(empty),
    ...temporary.filter(isBelow).flatMap(open),
    ...[
      ...programsBelow([...hidden, ...(isBuild ? temporary : [])], env),
      ...resolverFolder(),
    ].flatMap((path) => readOnly(path)),
    ...(isBuild ? [] : ofTheUser({ paths, app, env })),
    ...(profile === 'pm2' || profile === 'docker'
      ? supervisorPaths(profile, env).flatMap((path) => bind(path))
      : []),
  ];
}

/** What commands other than builds have of the user's: not its terminals, but its logs, databases and secrets. */
function ofTheUser({ paths, app, env }: Confined): string[] {
  const runtime = { XDG_RUNTIME_DIR: `/run/user/${process.geteuid?.()}`, ...env };
  // Bubblewrap refuses a path that it may not look at, as in /run/runner of another user.
  const secrets = memoryFoldersOf(paths.root, runtime)
    .map((folder) => join(folder, app))
    .filter((folder) => existsSync(folder));
  return [
    ...agentFolders().flatMap(empty),
    ...ownLogFolders().flatMap((path) => bind(path)),
    ...[...databaseFolders(), ...secrets].flatMap((path) => readOnly(path)),
  ];
}

/**
 * The root is empty but for some folders of the app. It reads all its releases and instances, and cannot
 * replace a folder in them by a link: runner, and the next build, would follow it.
 */
function root(profile: Profile, { paths, app, allow, scratch }: SandboxSubject, folders: Folders) {
  const isBuild = profile === 'build';
  const { dir, home, releases, instances } = paths.app(app);
  const real = realOr(paths.root);
  const at = (path: string) => join(real, relative(paths.root, path));
  // Any of them may be a link to another disk.
  const elsewhere = realFolders([
    ...['apps', 'state', 'logs', 'locks', 'spool'].map((name) => join(paths.root, name)),
    ...[dir, releases, instances],
  ]).filter((folder) => !isWithin(real, folder));
  const slot = profile === 'app' ? folders.slot : undefined;
  const more = [slot, folders.copy].filter((each) => each !== undefined);
  const own = [folders.release, folders.shared, ...more];
  for (const folder of [...own, home]) refuseDetour({ paths, app }, folder);
  for (const path of allow.filter((each) => isWithin(at(home), each)))
    orElse(() => makeInHome(home, relative(at(home), path)), undefined);
  return [
    ...empty(real),
    ...elsewhere.flatMap(empty),
    ...(isBuild ? [] : [releases, instances]).flatMap((path) => readOnly(path, at(path))),
    // What a link of these leads to is outside of the root, where hooks may write anyway.
    ...own.filter((path) => isBuild || !isLink(path)).flatMap((path) => bind(path, at(path))),
    ...(slot ? environmentFile(join(slot, 'env'), at) : []),
    ...(isBuild ? bind(scratch().home, at(home)) : empty(at(home))),
    ...homeOptions(home, at(home)),
    ...['--remount-ro', real],
  ];
}

/** What is allowed in HOME is a folder, which no one needs to make first. A build may have put a link in a cache. */
function makeInHome(home: string, path: string): void {
  const make = (parent: Folder, name: Name) => parent.makeFolder(name, 0o700);
  inFolder(Folder.open(home), (top) => top.below(path.split('/'), make).close());
}

/** systemd reads it as root, and so would follow a link that the app put in its place. */
function environmentFile(path: string, at: (path: string) => string): string[] {
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile();
  return isFile ? readOnly(path, at(path)) : [];
}

const isLink = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/**
 * A folder of an app may be a link to another disk, but not one that the app has made, while it could,
 * to what is not its own. It may be missing. Throws `not_writable`.
 */
export function refuseDetour({ paths, app }: Pick<Confined, 'paths' | 'app'>, folder: string) {
  const [root, own] = [realOr(paths.root), realOr(paths.app(app).dir)];
  const real = orElse(() => realpathSync(folder), own);
  if (isWithin(own, real) || !(isWithin(root, real) || isWithin(real, root))) return;
  throw new Failure('not_writable', `${folder} leads to ${real}: remove the link`);
}

/**
 * The paths of `sandbox.allow`, links resolved: bound to another place, what they lead to could show the root. Throws
 * `config_invalid` for a path in the root, other than one in the app's HOME, for /dev and in /proc.
 */
export function allowedPaths(
  { paths, app }: Pick<Confined, 'paths' | 'app'>,
  allow: readonly string[],
): string[] {
  const root = realOr(paths.root);
  const home = join(root, relative(paths.root, paths.app(app).home));
  return allow.map((path) => {
    const real = orElse(() => realpathSync(path), path);
    const isOfRunner = isWithin(root, real) && real !== root && !isWithin(home, real);
    const isOfSystem = real === '/dev' || isWithin('/proc', real);
    if (!isOfRunner && !isOfSystem) return real;
    const whose = isOfRunner ? 'belongs to runner' : 'shows the processes or devices of the server';
    const why = `sandbox.allow.${app}: ${path} ${whose}, and is never opened`;
    throw new Failure('config_invalid', `${paths.config}: ${why}`);
  });
}
