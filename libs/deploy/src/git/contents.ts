/** `.deploy.yml` and the submodules of a commit. */
import type { OperatorFile } from '@runner/common/apps/state';
import { DEPLOY_FILE, type DeployFile, readDeployFile } from '@runner/common/deploy-file/read';
import { Failure } from '@runner/common/foundation/failure';
import { blobsOf, type CommitTree, refuseLargeFiles, treeOf } from './commit-files.ts';
import type { GitSource } from './source.ts';
import { fetchSubmodules, MODULES_FILE, type Submodule } from './submodules.ts';

/** What was read of a commit. */
export interface Contents {
  readonly file: DeployFile;
  /** `.deploy.yml`, byte for byte; undefined if there is none. */
  readonly bytes: Buffer | undefined;
  /** Whose `.deploy.yml` that is; null if there is none. */
  readonly from: 'commit' | 'operator' | null;
  /** The operator has a file as well, which does not count. */
  readonly isOverruled: boolean;
  readonly submodules: readonly Submodule[];
  /** A file with nearly the name of `.deploy.yml`, in its absence. */
  readonly lookalike: string | undefined;
}

const LOOKALIKES = ['.deploy.yaml', 'deploy.yml', 'deploy.yaml'];

/** What is not read, a sentence. */
export function unreadNote({ lookalike, isOverruled }: Contents): string | undefined {
  if (isOverruled)
    return `the commit's own ${DEPLOY_FILE} counts, not the one of runner edit --deploy-file`;
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
 * Reads `.deploy.yml` of a commit, or the operator's, and fetches its submodules. Throws
 * `deploy_file_invalid`, `submodule_unsupported`, `lfs_unsupported`, and what fetching throws. `isKept`: it was
 * deployed before, maybe before a rule.
 */
export async function contentsOf(
  source: GitSource,
  commit: string,
  operators: OperatorFile | undefined,
  isKept = false,
): Promise<Contents> {
  // In parallel: each is a process of git.
  const [tree, [blob]] = await Promise.all([
    treeOf(source, commit, [DEPLOY_FILE, MODULES_FILE, ...LOOKALIKES]),
    blobsOf(source, [`${commit}:${DEPLOY_FILE}`]),
  ]);
  const own = operators?.wins ? undefined : deployFileOf(tree, blob);
  const chosen =
    own || !operators
      ? fileOfCommit(own, operators !== undefined, isKept)
      : fileOfOperator(operators, isKept);
  await refuseLargeFiles(source, commit, tree);
  const submodules = await fetchSubmodules(source, tree);
  const lookalike = chosen.bytes ? undefined : LOOKALIKES.find((name) => tree.top.has(name));
  return { ...chosen, submodules, lookalike };
}

type ChosenFile = Pick<Contents, 'file' | 'bytes' | 'from' | 'isOverruled'>;

function fileOfCommit(
  bytes: Buffer | undefined,
  isOverruled: boolean,
  isKept: boolean,
): ChosenFile {
  const file = readDeployFile(bytes, DEPLOY_FILE, isKept);
  return { file, bytes, from: bytes ? 'commit' : null, isOverruled };
}

/** It was checked when it was stored: only another version of runner can refuse it. */
function fileOfOperator({ text }: OperatorFile, isKept: boolean): ChosenFile {
  const bytes = Buffer.from(text);
  try {
    const file = readDeployFile(bytes, DEPLOY_FILE, isKept);
    return { file, bytes, from: 'operator', isOverruled: false };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const how = 'give it again with runner edit --deploy-file';
    throw new Failure('state_malformed', `the operator's ${error.message}; ${how}`);
  }
}

function deployFileOf({ top }: CommitTree, blob: Buffer | undefined): Buffer | undefined {
  const entry = top.get(DEPLOY_FILE);
  if (entry === undefined || entry.mode.startsWith('100')) return blob;
  throw new Failure('deploy_file_invalid', `${DEPLOY_FILE} is not a regular file in this commit`);
}
