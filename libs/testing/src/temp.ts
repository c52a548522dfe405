import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './cleanup.ts';
import { processesIn } from './processes.ts';

/** All folders of this process. */
const folders: string[] = [];

/**
 * Makes an empty folder that is removed when this process ends, on failure too, with every process
 * that works in it. Mode 0755, so that a program that has given up root still reaches its files.
 * `parent`: `/tmp` for a path that a shell must read unquoted, whatever TMPDIR is.
 */
export function temporaryFolder(name = 'test', parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, `runner-${name}-`));
  chmodSync(folder, 0o755);
  if (folders.length === 0) atExit(removeAll);
  folders.push(folder);
  return folder;
}

/** Ends what still works in a folder first: it would go on writing there, or hold a port. */
function removeAll(): void {
  for (const { pid } of processesIn(...folders)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  // A user without root removes nothing from a read-only folder.
  spawnSync('chmod', ['-R', 'u+rwX', '--', ...folders], { stdio: 'ignore' });
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
}

/** Everything below a folder, links not followed: paths relative to it, sorted, folders included. */
export function pathsBelow(folder: string): string[] {
  const found: string[] = [];
  const walk = (relative: string): void => {
    for (const entry of readdirSync(join(folder, relative), { withFileTypes: true })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      found.push(path);
      if (entry.isDirectory()) walk(path);
    }
  };
  walk('');
  return found.sort();
}

function textOf(path: string): string {
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : `base64:${bytes.toString('base64')}`;
}

/**
 * A folder as plain data, to be compared before and after: `{ 'a/b': 'content', 'a/': '',
 * 'link': '-> target', 'pipe': '(special)' }`. Bytes that are not UTF-8 stand as `base64:…`. With
 * `modes`, every value begins with the octal mode, as in `0600 content`.
 */
export function tree(folder: string, options: { modes?: boolean } = {}): Record<string, string> {
  const entries: [string, string][] = [];
  for (const path of pathsBelow(folder)) {
    const absolute = join(folder, path);
    const stats = lstatSync(absolute);
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    const prefix = options.modes === true && !stats.isSymbolicLink() ? `${mode} ` : '';
    if (stats.isDirectory()) entries.push([`${path}/`, prefix]);
    else if (stats.isSymbolicLink()) entries.push([path, `-> ${readlinkSync(absolute)}`]);
    else if (stats.isFile()) entries.push([path, prefix + textOf(absolute)]);
    else entries.push([path, `${prefix}(special)`]);
  }
  return Object.fromEntries(entries);
}

/** Everything below a root but the locks, whose content informs about the last holder. */
export function contentOf(root: string): Record<string, string> {
  const entries = Object.entries(tree(root, { modes: true }));
  return Object.fromEntries(entries.filter(([path]) => !path.startsWith('locks/')));
}
