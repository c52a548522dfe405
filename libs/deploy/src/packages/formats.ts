/** The lock files of npm, pnpm and yarn. None of them is trusted: what is not understood has no known age. */
import { isObject } from '@runner/common/text/json';
import { type LockedPackage, lockedPackage } from './package.ts';

/** Reads the text of a lock file. Throws an Error whose message says why it cannot. */
export type LockReader = (text: string) => LockedPackage[];

/** By file. Of those beside each other, all are read. */
export const LOCK_FILES: Readonly<Record<string, LockReader>> = {
  'package-lock.json': npmLock,
  'npm-shrinkwrap.json': npmLock,
  'pnpm-lock.yaml': pnpmLock,
  'yarn.lock': yarnLock,
};

const textOr = (value: unknown, other: string) => (typeof value === 'string' ? value : other);

/** Versions 2 and 3. */
function npmLock(text: string): LockedPackage[] {
  const lock: unknown = JSON.parse(text);
  if (!isObject(lock) || !isObject(lock.packages))
    throw new Error('it has no packages: npm install with npm 7 or later writes them');
  const folder = 'node_modules/';
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    const at = path.lastIndexOf(folder);
    // The app itself, its workspaces, and links to them.
    if (at < 0 || !isObject(entry) || entry.link === true) return [];
    const name = textOr(entry.name, path.slice(at + folder.length));
    const archive = entry.inBundle === true ? null : archiveIn(textOr(entry.resolved, ''));
    const script = entry.hasInstallScript === true;
    return [lockedPackage(name, textOr(entry.version, ''), { archive, script })];
  });
}

function archiveIn(resolved: string): string | undefined | null {
  if (resolved === '') return undefined;
  return /^https?:\/\//i.test(resolved) ? resolved : null;
}

/** Blocks of lines: those that begin at `indent`, each with the deeper ones below it. */
function blocksOf(lines: readonly string[], indent: number): [key: string, body: string][] {
  const blocks: [string, string[]][] = [];
  for (const line of lines) {
    const depth = line.search(/[^ ]/);
    if (depth < 0 || line[depth] === '#') continue;
    if (depth <= indent) blocks.push([line.trim(), []]);
    else blocks.at(-1)?.[1].push(line);
  }
  return blocks.map(([key, body]) => [key, body.join('\n')]);
}

/** `/@scope/name@1.0.0(peer)`, since version 9 without the slash; until version 5 `/name/1.0.0_peer`. */
const PNPM_KEY = /^(?:\/?((?:@[^/@]+\/)?[^/@]+)@([^(]+)|\/((?:@[^/]+\/)?[^/]+)\/([^/_(]+))/;

function pnpmLock(text: string): LockedPackage[] {
  if (!/^lockfileVersion:/m.test(text)) throw new Error('it has no lockfileVersion');
  // Since pnpm 11 a document of pnpm itself may come before that of the project.
  const sections = blocksOf(text.split('\n'), 0).filter(([key]) => key === 'packages:');
  const packages = sections.flatMap(([, body]) => blocksOf(body.split('\n'), 2));
  return packages.flatMap(([line, body]) => {
    const key = line.replace(/:(?: \{\})?$/, '').replace(/^'(.*)'$|^"(.*)"$/, '$1$2');
    const [, name = key, version = '', oldName, oldVersion] = PNPM_KEY.exec(key) ?? [];
    // A folder of the repository.
    if (/^(?:file|link):/.test(version) || /^(?:file|link):/.test(key)) return [];
    const archive = archiveIn(/tarball: *["']?([^ ,}"'\n]+)/.exec(body)?.[1] ?? '');
    const script = /^ +requiresBuild: true$/m.test(body);
    return [lockedPackage(oldName ?? name, oldVersion ?? version, { archive, script })];
  });
}

/** Of version 1, and of Yarn 2 and later. Neither says which packages have scripts. */
function yarnLock(text: string): LockedPackage[] {
  if (!/^# yarn lockfile v1$|^__metadata:/m.test(text)) throw new Error('it is not one of yarn');
  return blocksOf(text.split('\n'), 0).flatMap(([key, body]) => {
    const field = (name: string) =>
      new RegExp(`^ {2}"?${name}"?:? +"?([^" \\n][^"\\n]*)"?$`, 'm').exec(body)?.[1];
    if (key === '__metadata:') return [];
    const resolution = field('resolution');
    const version = field('version') ?? '';
    if (resolution !== undefined) {
      // What is patched has an entry of its own.
      if (/@(?:workspace|patch|link|portal):/.test(resolution)) return [];
      const [, name, exact] = /^((?:@[^@/]+\/)?[^@/]+)@npm:([^:]+)$/.exec(resolution) ?? [];
      return [
        name === undefined
          ? lockedPackage(resolution, version, { archive: null })
          : lockedPackage(name, exact ?? version, {}),
      ];
    }
    const [, plain = key, alias] =
      /^"?((?:@[^@/]+\/)?[^@"/]+)@(?:npm:((?:@[^@/]+\/)?[^@"/]+)@)?/.exec(key) ?? [];
    const resolved = field('resolved') ?? '';
    const archive = resolved === '' ? undefined : (archiveIn(resolved) ?? null);
    return [lockedPackage(alias ?? plain, version, { archive })];
  });
}
