import { command } from '@runner/common/cli/command';
import { fields, type Style, table } from '@runner/common/cli/output';
import { Failure, notProvided, usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { findAccount, type TokenAccount } from '../account.ts';
import type { GitVerdict } from '../ask-git.ts';
import { rememberEnds } from '../remember.ts';
import { type TokenVerdict, testAll } from '../test-all.ts';
import { type TestContext, warnOfExpiry } from '../warn.ts';

/** A token that the code host refused, as `--json` prints it. */
interface RefusedToken {
  valid: false;
  app: string;
  fingerprint: string;
  http_status: number;
  error: string;
  message: string;
  git?: GitVerdict;
}

type TokenTestResult = TokenAccount | RefusedToken | { count: number; tokens: TokenVerdict[] };

export const test = command({
  name: 'test',
  about: "Ask the code host whether an app's token is valid",
  details:
    "Checks the token with the code host's API and with git. The exit status is 1 if the app has no token,\n" +
    'either refuses it, or the host does not answer.',
  positionals: { app: { about: 'Name of the app; required without --all' } },
  options: {
    all: { about: 'Test every distinct token, a few at a time' },
    quiet: {
      short: 'q',
      about:
        'With --all, for a daily timer: print only problems, and send a notification about tokens that expire soon',
    },
  },
  async run(context) {
    const { args, options } = context;
    if (options.all && args.app !== undefined)
      throw usage("the argument '--all' cannot be used with '[APP]'");
    if (options.quiet && !options.all)
      throw usage("the argument '--quiet' can only be used with '--all'");
    if (options.all) {
      return testAll(context, options.quiet);
    }
    if (args.app === undefined) throw notProvided('<APP|--all>');
    return testOne(context, args.app);
  },
  human(answer: TokenTestResult, style) {
    if ('tokens' in answer) return verdictTable(answer.tokens, style);
    return answer.valid ? validText(answer, style) : invalidText(answer, style);
  },
});

async function testOne(context: TestContext, name: string) {
  const { note } = context;
  try {
    const value = await findAccount(context, name);
    warnOfExpiry(context, [value.app], value.expires_at);
    if (value.missing)
      note(
        `warning: the token of ${name} lacks ${value.missing.join(', ')}, which commit_status or require_checks needs`,
      );
    const { fingerprint, expires_at = null, git } = value;
    rememberEnds(context, [{ fingerprint, apps: [name], expires_at }]);
    if (git?.ok !== false) return { value };
    note(`git: ${harmlessLine(git.message ?? '')} (${git.error})`);
    return { value, status: 1 };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const git = error.facts.git as GitVerdict | undefined;
    if (git && !git.ok) note(`git: ${harmlessLine(git.message ?? '')} (${git.error})`);
    if (error.code !== 'token_invalid') throw error;
    const message = harmlessLine(error.message);
    note(`${message} (${error.code})`);
    return { value: { ...error.facts, error: error.code, message }, status: error.status };
  }
}

function invalidText(found: RefusedToken, style: Style): string {
  return `${style.red(`Token INVALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['http_status:', String(found.http_status)],
    ['error:', found.error],
    ...gitField(found.git),
  ])}`;
}

function validText(found: TokenAccount, style: Style): string {
  return `${style.green(`Token VALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['username:', harmlessLine(found.username ?? 'unknown')],
    ['scopes:', found.scopes.join(', ') || 'none: this kind of token announces no scopes'],
    ...(found.expires_at ? [['expires:', found.expires_at] as const] : []),
    ...(found.missing ? [['missing:', found.missing.join(', ')] as const] : []),
    ...gitField(found.git),
  ])}`;
}

function gitField(git: GitVerdict | undefined): (readonly [string, string])[] {
  if (!git) return [];
  return [['git:', git.error === null ? 'can read the repository' : git.error]];
}

function verdictTable(verdicts: readonly TokenVerdict[], style: Style): string {
  const word = (valid: boolean | null) =>
    valid === null ? 'unknown' : valid ? 'valid' : 'INVALID';
  const rows = verdicts.map((each) => [
    each.fingerprint,
    word(each.valid),
    each.username ?? '-',
    each.expires_at?.slice(0, 10) ?? '-',
    each.apps.join(', '),
    each.error ?? (each.git?.error ? `git: ${each.git.error}` : ''),
  ]);
  return table(['TOKEN', 'STATE', 'USER', 'EXPIRES', 'APPS', 'PROBLEM'], rows, style);
}
