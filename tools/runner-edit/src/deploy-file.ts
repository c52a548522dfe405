/** The operator's own `.deploy.yml`, for commits that have none. */
import { withOperatorFile } from '@runner/common/apps/operator-file';
import type { AppState } from '@runner/common/apps/state';
import { DEPLOY_FILE_MAX, readDeployFile } from '@runner/common/deploy-file/read';
import { readGiven } from '@runner/common/files/read';
import { Failure, notProvided } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { harmlessLine } from '@runner/common/text/harmless';

/** The options about the operator's file. */
export interface FileValues {
  readonly 'deploy-file': string | undefined;
  readonly 'deploy-file-wins': boolean;
}

export function isFileGiven(options: FileValues): boolean {
  return options['deploy-file'] !== undefined || options['deploy-file-wins'];
}

/**
 * What the options change in a state; undefined without them. Throws `deploy_file_invalid`,
 * `file_unreadable`, `usage`.
 */
export function deployFileFrom({
  io,
  options,
}: {
  readonly io: Io;
  readonly options: FileValues;
}): ((before: AppState) => ReturnType<typeof withOperatorFile>) | undefined {
  if (!isFileGiven(options)) return undefined;
  const { 'deploy-file': given, 'deploy-file-wins': wins } = options;
  if (given === 'none') return () => withOperatorFile(io, undefined);
  const text = given === undefined ? undefined : checkedText(io, given);
  return ({ deploy_file: before }) => {
    const chosen = text ?? before?.text;
    if (chosen === undefined) throw notProvided('--deploy-file <FILE>');
    return withOperatorFile(io, { text: chosen, wins });
  };
}

function checkedText(io: Io, given: string): string {
  const name = given === '-' ? 'standard input' : harmlessLine(given);
  const text = readGiven(io, given, DEPLOY_FILE_MAX, 'standard input');
  if (text.trim() === '') throw new Failure('deploy_file_invalid', `${name} is empty`);
  readDeployFile(Buffer.from(text), name);
  return text;
}
