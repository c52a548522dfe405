/** Files of a commit that decide how it is deployed, read from the mirror. */

import { gitFailure } from './failure.ts';
import { git } from './git.ts';
import type { GitSource } from './source.ts';

/** A file, link or submodule of a commit. */
export interface TreeEntry {
  /** `100644`, `120000` for a link, `160000` for a submodule, `040000` for a folder. */
  readonly mode: string;
  readonly sha: string;
  readonly path: string;
}

/** The entries of a commit that matter to a deploy. */
export interface CommitTree {
  readonly top: ReadonlyMap<string, TreeEntry>;
  readonly submodules: readonly TreeEntry[];
  /** Every `.gitattributes`. */
  readonly attributes: readonly TreeEntry[];
}

/** Reads the tree of a commit; `top` names files of its root to look for. */
export async function treeOf(
  source: GitSource,
  commit: string,
  top: readonly string[],
): Promise<CommitTree> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit];
  const listed = await git(source.io, args, { cwd: source.mirror, signal: source.signal });
  if (listed.status !== 0) throw gitFailure(source, listed);
  const found = new Map<string, TreeEntry>();
  const submodules: TreeEntry[] = [];
  const attributes: TreeEntry[] = [];
  for (const line of listed.stdout.toString('utf8').split('\0')) {
    const path = line.slice(line.indexOf('\t') + 1);
    const folder = top.find((name) => path.startsWith(name) && path[name.length] === '/');
    if (folder !== undefined) found.set(folder, { mode: '040000', sha: '', path: folder });
    const wanted = top.includes(path);
    const isAttributes = path.endsWith('.gitattributes');
    if (!wanted && !isAttributes && !line.startsWith('160000')) continue;
    const [mode = '', , sha = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    const entry = { mode, sha, path };
    if (mode === '160000') submodules.push(entry);
    else if (wanted) found.set(path, entry);
    if (mode.startsWith('100') && /(^|\/)\.gitattributes$/.test(path)) attributes.push(entry);
  }
  return { top: found, submodules, attributes };
}

/** Contents of objects by id or `<commit>:<path>`, in the order given; undefined if missing. */
export async function blobsOf(
  source: GitSource,
  names: readonly string[],
): Promise<(Buffer | undefined)[]> {
  if (names.length === 0) return [];
  const { io, mirror, signal } = source;
  const input = names.map((name) => `${name}\n`).join('');
  const shown = await git(io, ['cat-file', '--batch'], { cwd: mirror, signal, input });
  if (shown.status !== 0) throw gitFailure(source, shown);
  const blobs: (Buffer | undefined)[] = [];
  let at = 0;
  for (let index = 0; index < names.length; index += 1) {
    const end = shown.stdout.indexOf(0x0a, at);
    const header = shown.stdout.toString('utf8', at, end);
    const [, type, size] = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(header) ?? [];
    at = end + 1;
    blobs.push(type === 'blob' ? shown.stdout.subarray(at, at + Number(size)) : undefined);
    if (size !== undefined) at += Number(size) + 1;
  }
  return blobs;
}
