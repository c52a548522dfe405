/** `.deploy.yml` and the submodules of a commit. */
import { DEPLOY_FILE, type DeployFile, readDeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { blobsOf, type CommitTree, treeOf } from './commit-files.ts';
import { refuseLargeFiles } from './large-files.ts';
import type { GitSource } from './source.ts';
import { fetchSubmodules, MODULES_FILE, type Submodule } from './submodules.ts';

/** What was read of a commit. */
export interface Contents {
  readonly file: DeployFile;
  /** `.deploy.yml` as it is in the commit; undefined if there is none. */
  readonly bytes: Buffer | undefined;
  readonly submodules: readonly Submodule[];
  /** A file with nearly the name of `.deploy.yml`, in its absence. */
  readonly lookalike: string | undefined;
}

const LOOKALIKES = ['.deploy.yaml', 'deploy.yml', 'deploy.yaml'];

/** That nothing reads the lookalike, a sentence. */
export function lookalikeNote({ lookalike }: Contents): string | undefined {
  return lookalike && `the commit has ${lookalike}, which is not read: the name is ${DEPLOY_FILE}`;
}

/** Errors that the commit itself causes, on any server. */
const OF_THE_COMMIT: readonly string[] = [
  'deploy_file_invalid',
  'lfs_unsupported',
  'submodule_unsupported',
];

/** Whether an error is the commit's own fault. */
export function isOfTheCommit(error: unknown): error is Failure {
  return error instanceof Failure && OF_THE_COMMIT.includes(error.code);
}

/**
 * Reads `.deploy.yml` of a commit and fetches its submodules. Throws `deploy_file_invalid`,
 * `submodule_unsupported`, `lfs_unsupported`, and what fetching throws.
 */
export async function contentsOf(source: GitSource, commit: string): Promise<Contents> {
  // In parallel: each is a process of git.
  const [tree, [blob]] = await Promise.all([
    treeOf(source, commit, [DEPLOY_FILE, MODULES_FILE, ...LOOKALIKES]),
    blobsOf(source, [`${commit}:${DEPLOY_FILE}`]),
  ]);
  const bytes = deployFileOf(tree, blob);
  const file = readDeployFile(bytes);
  await refuseLargeFiles(source, commit, tree);
  const submodules = await fetchSubmodules(source, tree);
  const lookalike = bytes ? undefined : LOOKALIKES.find((name) => tree.top.has(name));
  return { file, bytes, submodules, lookalike };
}

function deployFileOf({ top }: CommitTree, blob: Buffer | undefined): Buffer | undefined {
  const entry = top.get(DEPLOY_FILE);
  if (entry === undefined || entry.mode.startsWith('100')) return blob;
  throw new Failure('deploy_file_invalid', `${DEPLOY_FILE} is not a regular file in this commit`);
}
