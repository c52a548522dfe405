/** What git's messages mean. git ends with status 128 for nearly everything, so its words decide. */
import { Failure, type FailureCode } from '@runner/common/foundation/failure';
import { redactor } from '@runner/common/secrets/secret';
import type { GitResult, Source } from './source.ts';

const NOT_GIT =
  'the code host does not answer as a git server: check code_host_git_url, and whether a proxy or a ' +
  'login page answers in its place';

/** First match wins. Messages are English: git runs with LC_ALL=C. */
const MEANINGS: readonly (readonly [RegExp, FailureCode, (source: Source) => string])[] = [
  [
    /Authentication failed|could not read (?:Username|Password)|HTTP Basic: Access denied|returned error: 40[13]\b|Invalid username or (?:password|token)/i,
    'token_invalid',
    (source) =>
      source.token
        ? `the code host refused the token of '${source.app}' for ${source.repo}`
        : `the code host wants a token for ${source.repo}, and '${source.app}' has none`,
  ],
  [
    /repository '.{0,400}' not found|Repository not found|returned error: 404\b/i,
    'repo_not_found',
    (source) => `the code host knows no repository ${source.repo}, or the token may not read it`,
  ],
  [
    /couldn't find remote ref/i,
    'branch_not_found',
    (source) => `the repository ${source.repo} has no branch '${source.branch}'`,
  ],
  [
    /is this a git repository\?|bad line length character|unable to update url base from redirection/i,
    'code_host_error',
    () => NOT_GIT,
  ],
  [/No space left on device|Disk quota exceeded/i, 'disk_full', () => 'no space left on the disk'],
  [
    /Could not resolve (?:host|proxy)/i,
    'network_error',
    () => "the code host's name cannot be resolved",
  ],
  [
    /Failed to connect|Connection refused|Couldn't connect/i,
    'network_error',
    () => 'the code host refused the connection',
  ],
  [
    /timed out|too slow|Operation too slow/i,
    'network_error',
    () => 'the code host did not answer in time',
  ],
  [
    /SSL certificate|certificate verif|SSL peer/i,
    'network_error',
    () => "the code host's certificate cannot be verified",
  ],
  [/returned error: 429\b/i, 'rate_limited', () => 'the code host asks to wait: too many requests'],
  [/returned error: 5\d\d\b/i, 'code_host_error', () => 'the code host has a problem of its own'],
  [
    /Empty reply|Connection reset|RPC failed|early EOF|unexpected disconnect|hung up/i,
    'network_error',
    () => 'the code host dropped the connection',
  ],
];

/** Most characters of git's own line. */
const SAID_MAX = 300;

/** The Failure for a call of git that did not succeed; holds git's own line where it helps. */
export function gitFailure(source: Source, result: GitResult): Failure {
  if (result.timedOut) return new Failure('network_error', 'the code host did not answer in time');
  const found = MEANINGS.find(([pattern]) => pattern.test(result.stderr));
  // Cleaned before it is cut: a secret that is cut is not recognised any more.
  const clean = redactor(source.token ? [source.token] : [])(result.stderr);
  const said = mainLine(clean).slice(0, SAID_MAX);
  if (!found) return new Failure('git_failed', `git failed: ${said || `status ${result.status}`}`);
  const [, code, words] = found;
  const sentence = words(source);
  const explained =
    ['token_invalid', 'branch_not_found', 'repo_not_found'].includes(code) || sentence === NOT_GIT;
  return new Failure(code, explained ? sentence : `${sentence} (${said})`);
}

/** The Failure for an answer that git took for an empty list although no git server gave it. */
export function notGit(): Failure {
  return new Failure('code_host_error', NOT_GIT);
}

function mainLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line =
    lines.find((each) => /^(fatal|error):/.test(each)) ?? lines.find((each) => each !== '') ?? '';
  return line.replace(/^(fatal|error):\s*/, '');
}
