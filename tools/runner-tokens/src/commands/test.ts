import { command } from '@runner/common/cli/command';
import { fields, type Style, table } from '@runner/common/cli/output';
import { Failure, usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { TokenVerdict } from '../test-all.ts';
import type { TokenTest } from '../token-test.ts';

/** Announced this many days before a token ends. */
const WARNING_DAYS = 14;
const DAY = 86_400_000;

/** A token that the code host refused, as `--json` prints it. */
interface RefusedToken {
  valid: false;
  app: string;
  fingerprint: string;
  http_status: number;
  error: string;
  message: string;
}

type Answer = TokenTest | RefusedToken | { count: number; tokens: TokenVerdict[] };

export const test = command({
  name: 'test',
  about: "Ask the code host whether an app's token is valid",
  details:
    'Status 1 when the app has no token, when it is refused, or when the host cannot be asked.',
  positionals: { app: { about: 'Name of the app; needed without --all' } },
  options: { all: { kind: 'flag', about: 'Ask about every distinct token, a few at a time' } },
  async run(context) {
    const { paths, io, args, options, note } = context;
    if (options.all && args.app !== undefined) {
      throw usage("the argument '--all' cannot be used with '[APP]'");
    }
    const warn = (whose: string, expiry: string | null | undefined) => {
      if (!expiry) return;
      const left = Date.parse(expiry) - io.now().getTime();
      const days = Math.floor(left / DAY);
      const end = left < 0 ? `ended at ${expiry}` : `ends in ${days} day(s)`;
      if (days < WARNING_DAYS)
        note(`warning: the token of ${whose} ${end}: make a new one and run runner edit --token`);
    };
    if (options.all) {
      const { testAll } = await import('../test-all.ts');
      const { verdicts, failed } = await testAll(paths, io.env);
      for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
      for (const { apps, expires_at } of verdicts) warn(apps.join(', '), expires_at);
      const good = failed.length === 0 && verdicts.every(({ valid }) => valid === true);
      return { value: { count: verdicts.length, tokens: verdicts }, status: good ? 0 : 1 };
    }
    if (args.app === undefined) {
      throw usage('the following required arguments were not provided: <APP|--all>');
    }
    const { testToken } = await import('../token-test.ts');
    try {
      const value = await testToken(paths, io.env, args.app);
      warn(value.app, value.expires_at);
      return { value };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'token_invalid') throw error;
      const message = harmlessLine(error.message);
      note(`${message} (${error.code})`);
      return { value: { ...error.facts, error: error.code, message }, status: error.status };
    }
  },
  human(answer: Answer, style) {
    if ('tokens' in answer) return verdictTable(answer.tokens, style);
    return answer.valid ? validText(answer, style) : invalidText(answer, style);
  },
});

function invalidText(found: RefusedToken, style: Style): string {
  return `${style.red(`Token INVALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['http_status:', String(found.http_status)],
    ['error:', found.error],
  ])}`;
}

function validText(found: TokenTest, style: Style): string {
  return `${style.green(`Token VALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['username:', harmlessLine(found.username)],
    ['scopes:', found.scopes.join(', ') || 'none announced by this kind of token'],
    ...(found.expires_at ? [['expires:', found.expires_at] as const] : []),
  ])}`;
}

function verdictTable(verdicts: readonly TokenVerdict[], style: Style): string {
  const word = (valid: boolean | null) =>
    valid === null ? 'unknown' : valid ? 'valid' : 'INVALID';
  const rows = verdicts.map((each) => [
    each.fingerprint,
    word(each.valid),
    harmlessLine(each.username ?? '-'),
    each.expires_at?.slice(0, 10) ?? '-',
    each.apps.join(', '),
    each.error ?? '',
  ]);
  return table(['TOKEN', 'STATE', 'USER', 'EXPIRES', 'APPS', 'PROBLEM'], rows, style);
}
