/** What a command sees of the file system: the options of bubblewrap for each profile. */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { memoryFolders, memoryFoldersOf } from './memory-folders.ts';
import { namespaceOptions } from './probe.ts';

/**
 * `build`: writes its release and the shared files. `hook`, `app`: write what is the app's; what an
 * `app` starts may outlive it. `client`: of a supervisor that looks at the pids of the server.
 */
export type Profile = 'build' | 'hook' | 'app' | 'client';

/** Whose commands are confined. */
export interface Confined {
  readonly paths: Paths;
  readonly app: string;
  readonly env: Env;
}

/** What they may use in addition to what is the app's. */
export interface Subject extends Confined {
  /** Further paths that it may use. */
  readonly allow: readonly string[];
  /** The folder that stands for /tmp in a build. */
  readonly scratch: () => string;
}

/** What a command may write to of its app. */
export interface Folders {
  /** The one it runs in. */
  readonly release: string;
  readonly shared: string;
  /** Where an app with slots makes its socket. */
  readonly slot?: string | undefined;
  /** Whether a build has the network; absent: it has. */
  readonly network?: boolean;
}

const within = (folder: string, path: string) =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

/** The real path of a folder; undefined if there is none. */
function realFolder(path: string | undefined): string | undefined {
  if (path === undefined || !isAbsolute(path)) return undefined;
  try {
    const real = realpathSync(path);
    return real !== '/' && statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

const realFolders = (paths: readonly (string | undefined)[]) => [
  ...new Set(paths.flatMap((path) => realFolder(path) ?? [])),
];

const bind = (path: string, at = path) => ['--bind-try', path, at];
const readOnly = (path: string) => ['--ro-bind-try', path, path];
const empty = (path: string) => ['--tmpfs', path];
const device = (path: string) => ['--dev-bind-try', path, path];

function isAbove(path: string, root: string): boolean {
  return within(realFolder(path) ?? path, realFolder(root) ?? root);
}

/** Options for a command of an app in a profile. Throws `not_writable`. */
export function mountsFor(profile: Profile, subject: Subject, folders: Folders): string[] {
  const isBuild = profile === 'build';
  return [
    ...namespaceOptions(),
    '--new-session',
    ...(profile === 'client' ? [] : ['--unshare-pid']),
    ...(profile === 'build' || profile === 'hook' ? ['--die-with-parent'] : []),
    ...(isBuild ? ['--unshare-ipc', '--unshare-uts'] : []),
    ...(isBuild && folders.network === false ? ['--unshare-net'] : []),
    ...(isBuild ? ['--ro-bind', '/', '/'] : ['--bind', '/', '/']),
    ...['--dev', '/dev'],
    // Another process namespace needs the right to mount its own.
    ...(profile === 'client' ? [] : ['--proc', '/proc']),
    ...(isBuild ? outsideOfBuild(subject) : outsideOfApp(subject, profile)),
    // What is allowed above the root does not uncover it.
    ...subject.allow.filter((path) => isAbove(path, subject.paths.root)).flatMap(device),
    ...root(subject, folders, isBuild),
    ...subject.allow.filter((path) => !isAbove(path, subject.paths.root)).flatMap(device),
  ];
}

/**
 * The root is empty but for some folders of the app. It reads all its releases and instances, and cannot
 * replace a folder in them by a link: runner, and the next build, would follow it.
 */
function root({ paths, app }: Subject, folders: Folders, isBuild: boolean): string[] {
  const { dir, home, releases, instances } = paths.app(app);
  const real = realFolder(paths.root) ?? paths.root;
  const at = (path: string) => join(real, relative(paths.root, path));
  // Any of them may be a link to another disk.
  const elsewhere = realFolders([
    ...['apps', 'state', 'logs', 'locks', 'spool'].map((name) => join(paths.root, name)),
    ...[dir, releases, instances],
  ]).filter((folder) => !within(real, folder));
  const own = [folders.release, folders.shared, ...(folders.slot ? [folders.slot] : []), home];
  for (const folder of own) refuseDetour({ paths, app }, folder);
  return [
    ...empty(real),
    ...elsewhere.flatMap(empty),
    ...(isBuild ? [] : [releases, instances]).flatMap((path) => ['--ro-bind-try', path, at(path)]),
    // What a link of these leads to is outside of the root, where hooks may write anyway.
    ...own.filter((path) => isBuild || !isLink(path)).flatMap((path) => bind(path, at(path))),
    ...['--remount-ro', real],
  ];
}

const isLink = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/**
 * A folder of an app may be a link to another disk, but not one that the app has made, while it could,
 * to what is not its own. It may be missing. Throws `not_writable`.
 */
export function refuseDetour({ paths, app }: Pick<Subject, 'paths' | 'app'>, folder: string): void {
  const [root, own] = [paths.root, paths.app(app).dir].map((path) => realFolder(path) ?? path) as [
    string,
    string,
  ];
  const real = orElse(() => realpathSync(folder), own);
  if (within(own, real) || !(within(root, real) || within(real, root))) return;
  throw new Failure('not_writable', `${folder} leads to ${real}: remove the link`);
}

const TEMPORARY = ['/tmp', '/var/tmp'];

/** A build has /tmp, /run and the user's home to itself. */
function outsideOfBuild({ env, scratch }: Subject): string[] {
  const home = realFolder(env.HOME);
  const temporary = realFolders([...TEMPORARY, env.TMPDIR]);
  const hidden = realFolders(['/run', env.CREDENTIALS_DIRECTORY, home]);
  return [
    ...hidden.flatMap(empty),
    ...temporary.flatMap((path) => bind(scratch(), path)),
    ...programsBelow([...hidden, ...temporary], env).flatMap(readOnly),
    ...resolverFolder().flatMap(readOnly),
  ];
}

/** What PATH leads to below folders that are hidden, such as ~/.nvm. */
function programsBelow(hidden: readonly string[], { PATH = '' }: Env): string[] {
  const found = PATH.split(delimiter).flatMap((entry) => {
    const path = realFolder(entry);
    const above = hidden.filter((each) => path !== undefined && within(each, path)).at(-1);
    if (path === undefined || above === undefined || path === above) return [];
    return [join(above, relative(above, path).split('/')[0] as string)];
  });
  return [...new Set(found)];
}

/** Where the addresses of name servers are, when they are below /run. */
function resolverFolder(): string[] {
  const folder = orElse(() => dirname(realpathSync('/etc/resolv.conf')), '/');
  return within('/run', folder) && folder !== '/run' ? [folder] : [];
}

/** An app has the server's /run and /tmp; its user's home it can only read. */
function outsideOfApp({ paths, env, app }: Subject, profile: Profile): string[] {
  const home = realFolder(env.HOME);
  const supervisor = env.PM2_HOME ?? (env.HOME && join(env.HOME, '.pm2'));
  const runtime = { XDG_RUNTIME_DIR: `/run/user/${process.geteuid?.()}`, ...env };
  const memory = memoryFoldersOf(paths.root, runtime).map((folder) => join(folder, app));
  return [
    ...(home === undefined ? [] : readOnly(home)),
    ...(profile === 'client' ? realFolders([supervisor]).flatMap((path) => bind(path)) : []),
    ...realFolders([
      ...['/run/credentials', env.CREDENTIALS_DIRECTORY],
      ...memoryFolders(runtime),
    ]).flatMap(empty),
    ...memory.flatMap((path) => bind(path)),
  ];
}
