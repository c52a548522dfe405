/** Git LFS: the commit has pointers to files kept elsewhere, which git does not fetch. */
import { Failure } from '@runner/common/foundation/failure';
import { blobsOf, type CommitTree } from './commit-files.ts';
import { gitFailure } from './failure.ts';
import { git } from './git.ts';
import type { GitSource } from './source.ts';

const POINTER = 'version https://git-lfs.github.com/spec/v1\n';
/** Limit of the files that are inspected. */
const INSPECTED_MAX = 50;

/** Throws `lfs_unsupported` when a file of the commit is a pointer to Git LFS. */
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
  const { io, mirror, signal } = source;
  const pattern = ['-F', '-e', POINTER.trim()];
  const args = ['grep', '-z', '-l', '-a', '--full-name', ...pattern, commit, '--'];
  const found = await git(io, args, { cwd: mirror, signal });
  // 1: no match.
  if (found.status !== 0 && found.status !== 1) throw gitFailure(source, found);
  return found.stdout
    .toString('utf8')
    .split('\0')
    .map((name) => name.slice(commit.length + 1))
    .filter((path) => path !== '' && !path.includes('\n'))
    .slice(0, INSPECTED_MAX);
}
