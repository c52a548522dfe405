/** Files of a commit that decide how it is deployed, read from the mirror. */
import { Failure } from '@runner/common/foundation/failure';
import { gitFailure } from './failure.ts';
import { gitIn, gitOutput } from './git.ts';
import type { GitSource } from './source.ts';

/** A file, link or submodule of a commit. */
interface TreeEntry {
  /** `100644`, `120000` for a link, `160000` for a submodule, `040000` for a folder. */
  readonly mode: string;
  readonly sha: string;
  readonly path: string;
}

export type CommitTree = Awaited<ReturnType<typeof treeOf>>;

/** The entries of a commit that matter to a deploy; `top` names files of its root, `attributes` is every `.gitattributes`. */
export async function treeOf(source: GitSource, commit: string, top: readonly string[]) {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', commit];
  const found = new Map<string, TreeEntry>();
  const submodules: TreeEntry[] = [];
  const attributes: TreeEntry[] = [];
  for (const line of (await gitOutput(source, args)).toString('utf8').split('\0')) {
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
export async function blobsOf(source: GitSource, names: readonly string[]) {
  if (names.length === 0) return [];
  const input = names.map((name) => `${name}\n`).join('');
  const shown = await gitOutput(source, ['cat-file', '--batch'], { input });
  const blobs: (Buffer | undefined)[] = [];
  let at = 0;
  for (let index = 0; index < names.length; index += 1) {
    const end = shown.indexOf(0x0a, at);
    const header = shown.toString('utf8', at, end);
    const [, type, size] = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(header) ?? [];
    at = end + 1;
    blobs.push(type === 'blob' ? shown.subarray(at, at + Number(size)) : undefined);
    if (size !== undefined) at += Number(size) + 1;
  }
  return blobs;
}

const POINTER = 'version https://git-lfs.github.com/spec/v1\n';
/** Limit of the files that are inspected. */
const INSPECTED_MAX = 50;

/** Throws `lfs_unsupported` when a file of the commit is a pointer to Git LFS, which git does not fetch. */
export async function refuseLargeFiles(
  source: GitSource,
  commit: string,
  { attributes }: CommitTree,
): Promise<void> {
  const texts = await blobsOf(
    source,
    attributes.map(({ sha }) => sha),
  );
  const isUsed = texts.some((text) => text && /^[^#\n]*\sfilter=lfs(\s|$)/m.test(String(text)));
  if (!isUsed) return;
  const paths = await candidates(source, commit);
  const pointers = await blobsOf(
    source,
    paths.map((path) => `${commit}:${path}`),
  );
  const path = paths.find((_, index) => pointers[index]?.toString('latin1').startsWith(POINTER));
  if (path === undefined) return;
  throw new Failure(
    'lfs_unsupported',
    `${path} is kept in Git LFS, which runner does not fetch: commit the file itself, or fetch it in the build`,
  );
}

async function candidates(source: GitSource, commit: string): Promise<string[]> {
  const pattern = ['-F', '-e', POINTER.trim()];
  const args = ['grep', '-z', '-l', '-a', '--full-name', ...pattern, commit, '--'];
  const found = await gitIn(source, args);
  // 1: no match.
  if (found.status !== 0 && found.status !== 1) throw gitFailure(source, found);
  return found.stdout
    .toString('utf8')
    .split('\0')
    .map((name) => name.slice(commit.length + 1))
    .filter((path) => path !== '' && !path.includes('\n'))
    .slice(0, INSPECTED_MAX);
}
