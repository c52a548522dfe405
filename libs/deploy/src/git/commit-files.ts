/** What of a commit decides how it is deployed: read from the mirror, never from a work tree. */

import { gitFailure } from './failure.ts';
import { git } from './git.ts';
import type { Source } from './source.ts';

/** A file, link or submodule of a commit. */
export interface Entry {
  /** `100644`, `120000` for a link, `160000` for a submodule, `040000` for a folder. */
  readonly mode: string;
  readonly sha: string;
  readonly path: string;
}

/** The entries of a commit that are asked about; all others are left out. */
export interface Tree {
  readonly top: ReadonlyMap<string, Entry>;
  readonly submodules: readonly Entry[];
  /** Every `.gitattributes`. */
  readonly attributes: readonly Entry[];
}

/** Reads the names of a commit in one go; `top` are files of its root that are wanted. */
export async function treeOf(
  { io, mirror, signal, ...source }: Source,
  commit: string,
  top: readonly string[],
): Promise<Tree> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit];
  const listed = await git(io, args, { cwd: mirror, signal });
  if (listed.status !== 0) throw gitFailure({ io, mirror, signal, ...source }, listed);
  const found = new Map<string, Entry>();
  const submodules: Entry[] = [];
  const attributes: Entry[] = [];
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

/** Contents of objects by id or `<commit>:<path>`, in the order asked; undefined for what is missing. */
export async function blobsOf(
  source: Source,
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
