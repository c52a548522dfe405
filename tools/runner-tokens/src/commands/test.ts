import { command } from '@runner/common/command';
import { usage } from '@runner/common/failure';
import { harmlessLine } from '@runner/common/harmless';
import { fields, type Style, table } from '@runner/common/output';
import type { TokenVerdict } from '../test-all.ts';
import type { TokenTest } from '../token-test.ts';

/** Announced this many days before a token ends. */
const WARNING_DAYS = 14;
const DAY = 86_400_000;

type Answer = TokenTest | { count: number; tokens: TokenVerdict[] };

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
    const warn = (whose: string, expiry: string | null) => {
      const days =
        expiry === null
          ? WARNING_DAYS
          : Math.floor((Date.parse(expiry) - io.now().getTime()) / DAY);
      if (days < WARNING_DAYS)
        note(
          `warning: the token of ${whose} ends in ${Math.max(0, days)} day(s): make a new one and run runner edit --token`,
        );
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
      throw usage('the following required arguments were not provided: <<APP>|--all>');
    }
    const { testToken } = await import('../token-test.ts');
    const value = await testToken(paths, io.env, args.app);
    warn(value.app, value.expires_at);
    return { value };
  },
  human: (answer: Answer, style) =>
    'tokens' in answer ? verdictTable(answer.tokens, style) : validText(answer, style),
});

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
