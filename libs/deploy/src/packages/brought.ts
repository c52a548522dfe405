/** What the lock files of a commit bring that those of another had not. */
import { basename } from 'node:path';
import type { ChangeSummary } from '@runner/common/apps/deployed';
import type { AppState } from '@runner/common/apps/state';
import { blobsOf } from '../git/commit-files.ts';
import type { GitSource } from '../git/source.ts';
import { LOCK_FILES } from './formats.ts';
import { type LockedPackage, labelOf } from './package.ts';

/** In bytes. */
const LOCK_MAX = 33_554_432;
/** Where npm, pnpm and yarn find the address of a registry. */
const CONFIGURATION = ['.npmrc', '.yarnrc.yml'];
/** Packages that a record names. */
export const NAMED = 20;

interface Locks {
  readonly packages: ReadonlyMap<string, LockedPackage>;
  readonly isLocked: boolean;
  /** Why a file cannot be read, one sentence. */
  readonly problem: string | undefined;
  /** The text of files that may name a registry. */
  readonly configuration: string;
}

/** The difference of two commits. */
export interface BroughtPackages extends Pick<Locks, 'isLocked' | 'problem' | 'configuration'> {
  readonly wasLocked: boolean;
  /** In a version, or from an address, that was not there. */
  readonly added: readonly LockedPackage[];
  /** Those that now have a script, of any version, and had none. */
  readonly scripts: readonly string[];
}

/** Compares the lock files at the root and in the paths that the app follows; both commits must be in the mirror. */
export async function broughtBy(
  source: GitSource,
  { paths }: Pick<AppState, 'paths'>,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<BroughtPackages> {
  const folders = foldersOf(paths ?? []);
  const [before, after] = await Promise.all([
    locksOf(source, from, folders),
    locksOf(source, to, folders),
  ]);
  const added = [...after.packages].filter(([id]) => !before.packages.has(id));
  const had = new Set([...before.packages.values()].flatMap((p) => (p.script ? [p.name] : [])));
  const scripted = [...after.packages.values()].filter((p) => p.script && !had.has(p.name));
  return {
    added: added.map(([, each]) => each),
    scripts: before.problem === undefined ? scripted.map(labelOf) : [],
    wasLocked: before.isLocked,
    isLocked: after.isLocked,
    problem: after.problem,
    configuration: after.configuration,
  };
}

/** The new scripts for a record: those that are named, and how many there are if that is not all. */
export function scriptFields(
  scripts: readonly string[],
): Pick<ChangeSummary, 'new_install_scripts' | 'new_install_scripts_count'> {
  if (scripts.length === 0) return {};
  const new_install_scripts = scripts.slice(0, NAMED);
  if (scripts.length <= NAMED) return { new_install_scripts };
  return { new_install_scripts, new_install_scripts_count: scripts.length };
}

/** Beginnings of the paths of lock files: '' is the root. A pattern means the folder before it. */
function foldersOf(paths: readonly string[]): string[] {
  const plain = paths.filter((path) => !path.startsWith(':'));
  const folders = plain.map((path) =>
    path
      .replace(/[^/]*[*?[\\\n].*$/s, '')
      .replace(/[^/]*$/, (last) => (last in LOCK_FILES ? '' : last))
      .replace(/\/+$/, ''),
  );
  return [...new Set(['', ...folders.filter((each) => each !== '').map((each) => `${each}/`)])];
}

async function locksOf(
  source: GitSource,
  commit: string,
  folders: readonly string[],
): Promise<Locks> {
  const under = (names: readonly string[]) =>
    folders.flatMap((folder) => names.map((name) => `${folder}${name}`));
  const paths = under(Object.keys(LOCK_FILES));
  const all = [...paths, ...under(CONFIGURATION)];
  const blobs = await blobsOf(
    source,
    all.map((path) => `${commit}:${path}`),
  );
  const packages = new Map<string, LockedPackage>();
  const size = blobs.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
  // What git's answer was cut off by is more than that.
  if (size > LOCK_MAX) {
    const problem = `the lock files are larger than ${LOCK_MAX} bytes`;
    return { packages, isLocked: true, problem, configuration: '' };
  }
  let problem: string | undefined;
  paths.forEach((path, at) => {
    const read = LOCK_FILES[basename(path)];
    if (!blobs[at] || !read) return;
    try {
      for (const each of read(blobs[at].toString('utf8')))
        packages.set(JSON.stringify([each.name, each.version, each.archive]), each);
    } catch (error) {
      const why = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
      problem = `${path} cannot be read: ${why}`;
    }
  });
  const isLocked = blobs.slice(0, paths.length).some((bytes) => bytes !== undefined);
  const configuration = blobs.slice(paths.length).map((bytes) => bytes ?? '');
  return { packages, isLocked, problem, configuration: configuration.join('\n') };
}
