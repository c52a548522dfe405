/** What git's messages mean: it exits with 128 for nearly everything, so the text decides. */

import { Failure, type FailureCode } from '@runner/common/foundation/failure';
import { ADD_AUTHORITY } from '@runner/common/http/certificates';
import { redactor } from '@runner/common/secrets/redactor';
import type { GitResult, GitSource } from './source.ts';

const NOT_GIT =
  'the code host does not answer as a git server: check code_host_git_url, and whether a proxy or a ' +
  'login page answers instead';

/** A repository in git's SHA-256 format. */
export function sha256Words({ repo }: Pick<GitSource, 'repo'>): string {
  return `the repository ${repo} has SHA-256 object ids, which runner does not support: push it to a repository with SHA-1 ids`;
}

/** First match wins. Messages are English: git runs with LC_ALL=C. */
type Words = string | ((source: GitSource) => string);
const MEANINGS: readonly (readonly [RegExp, FailureCode, Words])[] = [
  [
    /Authentication failed|could not read (?:Username|Password)|HTTP Basic: Access denied|returned error: 40[13]\b|Invalid username or (?:password|token)/i,
    'token_invalid',
    (source) =>
      source.token || source.mint
        ? `the code host refused the token of '${source.app}' for ${source.repo}`
        : `the code host requires a token for ${source.repo}, and '${source.app}' has none`,
  ],
  [
    /repository '.{0,400}' not found|Repository not found|returned error: 404\b/i,
    'repo_not_found',
    (source) =>
      source.token || source.mint
        ? `the code host has no repository ${source.repo}, or the token cannot read it`
        : `the code host has no public repository ${source.repo}`,
  ],
  [
    /couldn't find remote ref/i,
    'branch_not_found',
    (source) => `the repository ${source.repo} has no branch '${source.branch}'`,
  ],
  [
    /is this a git repository\?|bad line length character|unable to update url base from redirection/i,
    'code_host_error',
    NOT_GIT,
  ],
  [/mismatched algorithms/i, 'git_failed', sha256Words],
  [/No space left on device|Disk quota exceeded/i, 'disk_full', 'no space left on the disk'],
  [/Could not resolve (?:host|proxy)/i, 'network_error', "the code host's name cannot be resolved"],
  [
    /Failed to connect|Connection refused|Couldn't connect/i,
    'network_error',
    'the code host refused the connection',
  ],
  [
    /timed out|too slow|Operation too slow/i,
    'network_error',
    'the code host did not answer in time',
  ],
  [
    /certificate subject name|certificate has expired/i,
    'network_error',
    "the code host's certificate is for another name or has expired",
  ],
  [
    /SSL certificate|certificate verif|SSL peer/i,
    'network_error',
    `the code host's certificate cannot be verified: unless it has expired, ${ADD_AUTHORITY}`,
  ],
  [/returned error: 429\b/i, 'rate_limited', 'the code host limits requests: try again later'],
  [/returned error: 5\d\d\b/i, 'code_host_error', 'the code host reports an internal error'],
  [
    /Empty reply|Connection reset|RPC failed|early EOF|unexpected disconnect|hung up/i,
    'network_error',
    'the code host dropped the connection',
  ],
];

/** Limit of git's own message, in characters. */
const MESSAGE_MAX = 300;

/** The Failure for a call of git that failed; includes git's own message where it helps. */
export function gitFailure(source: GitSource, result: GitResult): Failure {
  if (result.timedOut) return new Failure('network_error', 'the code host did not answer in time');
  // git got no answer from askpass, which knows only the origin of the app's host.
  const [, other] = /could not read Username for '([^']+)'/.exec(result.stderr) ?? [];
  if (other !== undefined && (source.token || source.mint)) {
    const words = `redirects to ${other}, where the token is not sent: check code_host_git_url`;
    return new Failure('code_host_error', `the code host ${words}`);
  }
  const found = MEANINGS.find(([pattern]) => pattern.test(result.stderr));
  // Redacted before it is cut: a secret that was cut is not recognised.
  const clean = redactor(source.token ? [source.token] : [])(result.stderr);
  const message = mainLine(clean).slice(0, MESSAGE_MAX);
  if (!found)
    return new Failure('git_failed', `git failed: ${message || `status ${result.status}`}`);
  const [, code, words] = found;
  const sentence = typeof words === 'string' ? words : words(source);
  const explained =
    ['token_invalid', 'branch_not_found', 'repo_not_found', 'git_failed'].includes(code) ||
    sentence === NOT_GIT;
  const said = explained ? forbiddenBecause(clean) : message;
  return new Failure(code, said === '' ? sentence : `${sentence} (${said})`);
}

/** With 403 only the host knows what the token lacks: a right, single sign-on, an account that is not suspended. */
function forbiddenBecause(stderr: string): string {
  if (!/returned error: 403\b/.test(stderr)) return '';
  return /^remote: (.*\S)/m.exec(stderr)?.[1]?.slice(0, MESSAGE_MAX) ?? '';
}

/** The Failure for an answer that git took for an empty list, but that no git server sent. */
export function notGit(): Failure {
  return new Failure('code_host_error', NOT_GIT);
}

function mainLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line =
    lines.find((each) => /^(fatal|error):/.test(each)) ?? lines.find((each) => each !== '') ?? '';
  return line.replace(/^(fatal|error):\s*/, '');
}
