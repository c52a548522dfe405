/** What a commit says about itself. */
import { git } from './git.ts';
import { shortLine } from './history.ts';
import type { GitSource } from './source.ts';

/** Absent if git does not say. */
export interface CommitInfo {
  /** One line, as is `author`. */
  readonly subject?: string;
  readonly author?: string;
  /** ISO 8601, UTC: by the committer's clock. */
  readonly committed_at?: string;
}

/** Reads a commit that was fetched. */
export async function commitInfo(
  { io, mirror, signal }: GitSource,
  commit: string,
): Promise<CommitInfo> {
  const args = [
    'show',
    '-s',
    '--encoding=UTF-8',
    '--format=%an%x00%s%x00%ct',
    '--end-of-options',
    commit,
  ];
  const { status, stdout } = await git(io, args, { cwd: mirror, signal });
  if (status !== 0) return {};
  const [author = '', subject = '', seconds = ''] = stdout
    .toString('utf8')
    .split('\0')
    .map(shortLine);
  const committed = new Date(Number(seconds || Number.NaN) * 1000);
  return {
    ...(subject && { subject }),
    ...(author && { author }),
    ...(!Number.isNaN(committed.getTime()) && { committed_at: committed.toISOString() }),
  };
}
