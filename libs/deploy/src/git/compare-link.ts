/** The page of a code host that compares two commits. */
import type { CodeHost } from '@runner/common/config/code-hosts';

/** undefined for a host whose pages are not known. */
export function compareLink(
  { type, gitUrl }: CodeHost,
  repo: string,
  from: string,
  to: string,
): string | undefined {
  const page = `${gitUrl}/${repo}`;
  if (type === 'git') return undefined;
  if (type === 'gitlab') return `${page}/-/compare/${from}...${to}`;
  if (type === 'bitbucket') return `${page}/branches/compare/${to}%0D${from}#diff`;
  return `${page}/compare/${from}...${to}`;
}
