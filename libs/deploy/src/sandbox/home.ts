/**
 * HOME of an app's commands. Caches stay from one command to the next. What the operator put
 * there is read-only, and everything else is temporary: configuration that a commit writes there would
 * otherwise decide what the builds of later commits do.
 */
import { lstatSync, readdirSync, readlinkSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isThere, makeFolder } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { isWithin } from './hidden.ts';

/** Folders of package managers that hold downloads, and neither configuration nor programs on PATH. */
export const CACHES: readonly string[] = [
  '.bun/install/cache',
  '.bundle/cache',
  '.cache',
  '.cargo/git',
  '.cargo/registry',
  '.composer/cache',
  '.gradle/caches',
  '.gradle/wrapper',
  '.hex/packages',
  '.local/share/pnpm/store',
  '.m2/repository',
  '.npm',
  '.nuget/packages',
  '.pnpm-store',
  '.yarn/berry/cache',
  'go/pkg',
];

/** Those that commands other than builds fill, too. */
const ALWAYS = ['.cache', '.npm'];

const isFolder = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Whether `path` leads from `top` to a folder without a link on the way. */
function leadsToFolder(top: string, path: string): boolean {
  const parts = path.split('/');
  return parts.every((_, at) => isFolder(join(top, ...parts.slice(0, at + 1))));
}

/** Options of bubblewrap for what is in the folder `home`, which commands see at `at`. */
export function homeOptions(home: string, at: string): string[] {
  for (const cache of ALWAYS) orElse(() => makeFolder(join(home, cache), 0o700), undefined);
  return optionsFor(home, at, '');
}

function optionsFor(home: string, at: string, folder: string): string[] {
  const names = orElse(() => readdirSync(join(home, folder)), []);
  return names.flatMap((name) => {
    const path = join(folder, name);
    const [from, to] = [join(home, path), join(at, path)] as const;
    const stat = lstatSync(from, { throwIfNoEntry: false });
    // Bubblewrap would follow it, and show what it leads to even if that is hidden.
    if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(from), to];
    if (CACHES.includes(path) && stat?.isDirectory()) return ['--bind-try', from, to];
    const holdsCaches = stat?.isDirectory() && CACHES.some((cache) => isWithin(path, cache));
    return holdsCaches ? ['--dir', to, ...optionsFor(home, at, path)] : ['--ro-bind-try', from, to];
  });
}

/** Moves caches that builds made in their temporary layer into HOME, unless it has them. */
export function keepCaches(layer: string, home: string): void {
  for (const cache of CACHES) {
    const [from, to] = [join(layer, cache), join(home, cache)] as const;
    if (!leadsToFolder(layer, cache) || isThere(to)) continue;
    const parent = dirname(cache);
    // On another disk, or below a link of the operator: the next build fills it again.
    orElse(() => {
      if (parent !== '.') makeFolder(join(home, parent), 0o700);
      if (parent === '.' || leadsToFolder(home, parent)) renameSync(from, to);
    }, undefined);
  }
}
