import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../tasks/checkout.mjs';

/** Where bundle.mjs leaves its result; turbo keeps and restores this folder. */
export const stage = join(cacheFolder, 'dist');

/** Relative paths of all files below a folder, sorted. */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

/**
 * Writes a file whole by a rename, and only when its content or mode differs, so that a program
 * that runs from here never reads a half-written file, and an unchanged build changes nothing.
 */
export function writeIfChanged(path, content, mode) {
  if (existsSync(path)) {
    const same = readFileSync(path).equals(content);
    if (same && (statSync(path).mode & 0o777) === mode) return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const fresh = join(dirname(path), `.new-${process.pid}-${Math.random().toString(36).slice(2)}`);
  writeFileSync(fresh, content);
  chmodSync(fresh, mode);
  renameSync(fresh, path);
}

/** Executables come last and go first: what they load is there before them and leaves after them. */
function byLoadOrder(a, b) {
  const rank = (file) => (file.startsWith('bin/') ? 1 : 0);
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** Bundles of programs.mjs lie in dist too. */
const DEV = /^dev\//;

/** Removes the files of `folder` that are neither in `keep` nor `spared`, and folders that are then empty. */
export function removeOthers(folder, keep, spared = /^$/) {
  const stale = filesBelow(folder).filter(
    (file) => !keep.has(file) && !spared.test(file) && !/(^|\/)\.new-/.test(file),
  );
  for (const file of stale.sort(byLoadOrder).reverse()) {
    rmSync(join(folder, file), { force: true });
    let parent = dirname(join(folder, file));
    while (parent !== folder && readdirSync(parent).length === 0) {
      rmdirSync(parent);
      parent = dirname(parent);
    }
  }
}

/** Makes `dist` equal to the staged build, file by file, in an order that a running tool survives. */
export function placeBundles(dist) {
  const files = filesBelow(stage).sort(byLoadOrder);
  for (const file of files) {
    const source = join(stage, file);
    writeIfChanged(join(dist, file), readFileSync(source), statSync(source).mode & 0o777);
  }
  removeOthers(dist, new Set(files), DEV);
}
