/** What a commit says about itself. */
import { git } from './git.ts';
import type { GitSource } from './source.ts';

/** Both are one line; absent if git does not say. */
export interface CommitInfo {
  readonly subject?: string;
  readonly author?: string;
}

/** Limit of each, in characters. */
const TEXT_MAX = 200;

/** Reads a commit that was fetched. */
export async function commitInfo(
  { io, mirror, signal }: GitSource,
  commit: string,
): Promise<CommitInfo> {
  const args = ['show', '-s', '--encoding=UTF-8', '--format=%an%x00%s', '--end-of-options', commit];
  const { status, stdout } = await git(io, args, { cwd: mirror, signal });
  if (status !== 0) return {};
  const [author = '', subject = ''] = stdout.toString('utf8').split('\0').map(shortLine);
  return { ...(subject && { subject }), ...(author && { author }) };
}

function shortLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX).toWellFormed();
}
