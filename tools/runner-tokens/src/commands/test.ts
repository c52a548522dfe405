import { missingRoot } from '@runner/common/apps/store';
import { type Context, command } from '@runner/common/cli/command';
import { fields, type Style, table } from '@runner/common/cli/output';
import { Failure, usage } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { TokenAccount } from '../account.ts';
import type { TokenGroup } from '../groups.ts';

/** A token that expires within this many days is warned about. */
const WARNING_DAYS = 14;
const DAY = 86_400_000;
/** Parallel requests: a code host takes many for abuse. */
const PARALLEL = 4;

/** A token that the code host refused, as `--json` prints it. */
interface RefusedToken {
  valid: false;
  app: string;
  fingerprint: string;
  http_status: number;
  error: string;
  message: string;
}

/** One distinct token of `--all`. */
interface TokenVerdict {
  fingerprint: string;
  apps: string[];
  /** null: the host did not say. */
  valid: boolean | null;
  username: string | null;
  scopes: string[];
  expires_at: string | null;
  http_status: number | null;
  /** Code and sentence of the error; null for a valid token. */
  error: string | null;
  message: string | null;
}

type Answer = TokenAccount | RefusedToken | { count: number; tokens: TokenVerdict[] };
type TestContext = Pick<Context, 'io' | 'paths' | 'note'>;

export const test = command({
  name: 'test',
  about: "Ask the code host whether an app's token is valid",
  details:
    'The status is 1 when the app has no token, the host refuses the token, or the host does not answer.',
  positionals: { app: { about: 'Name of the app; required without --all' } },
  options: {
    all: { kind: 'flag', about: 'Test every distinct token, a few at a time' },
    quiet: {
      kind: 'flag',
      short: 'q',
      about: 'With --all, for a daily timer: print only problems, and announce an end that is near',
    },
  },
  async run(context) {
    const { args, options } = context;
    if (options.all && args.app !== undefined)
      throw usage("the argument '--all' cannot be used with '[APP]'");
    if (options.quiet && !options.all)
      throw usage("the argument '--quiet' can only be used with '--all'");
    if (options.all) return testAll(context, options.quiet);
    if (args.app === undefined)
      throw usage('the following required arguments were not provided: <APP|--all>');
    return testOne(context, args.app);
  },
  human(answer: Answer, style) {
    if ('tokens' in answer) return verdictTable(answer.tokens, style);
    return answer.valid ? validText(answer, style) : invalidText(answer, style);
  },
});

async function testOne(context: TestContext, name: string) {
  const { io, paths, note } = context;
  const { findAccount } = await import('../account.ts');
  try {
    const value = await findAccount(paths, io.env, name);
    warnOfExpiry(context, value.app, value.expires_at);
    return { value };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'token_invalid') throw error;
    const message = harmlessLine(error.message);
    note(`${message} (${error.code})`);
    return { value: { ...error.facts, error: error.code, message }, status: error.status };
  }
}

async function testAll(context: TestContext, isQuiet: boolean) {
  const { io, paths, note } = context;
  const { groupTokens } = await import('../groups.ts');
  const { readConfig } = await import('@runner/common/config/file');
  const { codeHostsOf } = await import('@runner/common/config/code-hosts');
  // An invalid configuration is reported once, not for every token.
  codeHostsOf(readConfig(paths), io.env);
  const missing = missingRoot(paths);
  if (missing) note(missing);
  const { groups, failed, keysRefused } = groupTokens(paths, io.env);
  if (keysRefused) throw keysRefused;
  const verdicts: TokenVerdict[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < groups.length; index = next++)
      verdicts[index] = await verdictOf(context, groups[index] as TokenGroup);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
  for (const { apps, expires_at } of verdicts) warnOfExpiry(context, apps.join(', '), expires_at);
  const good = failed.length === 0 && verdicts.every(({ valid }) => valid === true);
  if (!isQuiet)
    return { value: { count: verdicts.length, tokens: verdicts }, status: good ? 0 : 1 };
  const { rememberEnds } = await import('../remember.ts');
  await rememberEnds(
    context,
    verdicts.filter(({ valid }) => valid === true),
  );
  const bad = verdicts.filter(({ valid }) => valid !== true);
  if (bad.length === 0) return { status: good ? 0 : 1 };
  return { value: { count: bad.length, tokens: bad }, status: 1 };
}

async function verdictOf(
  { io, paths }: TestContext,
  { fingerprint, apps }: TokenGroup,
): Promise<TokenVerdict> {
  const { findAccount } = await import('../account.ts');
  const unknown: TokenVerdict = {
    fingerprint,
    apps,
    valid: null,
    username: null,
    scopes: [],
    expires_at: null,
    http_status: null,
    error: null,
    message: null,
  };
  try {
    const account = await findAccount(paths, io.env, apps[0] as string);
    const { username, scopes, expires_at = null } = account;
    return { ...unknown, valid: true, username, scopes, expires_at };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const status = error.facts.http_status;
    return {
      ...unknown,
      valid: error.code === 'token_invalid' ? false : null,
      http_status: typeof status === 'number' ? status : null,
      error: error.code,
      message: error.message,
    };
  }
}

function warnOfExpiry(
  { io, note }: TestContext,
  apps: string,
  expiry: string | null | undefined,
): void {
  if (!expiry) return;
  const left = Date.parse(expiry) - io.now().getTime();
  const days = Math.floor(left / DAY);
  if (days >= WARNING_DAYS) return;
  const end = left < 0 ? `expired at ${expiry}` : `expires in ${days} day(s)`;
  note(`warning: the token of ${apps} ${end}: make a new one and run runner edit --token`);
}

function invalidText(found: RefusedToken, style: Style): string {
  return `${style.red(`Token INVALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['http_status:', String(found.http_status)],
    ['error:', found.error],
  ])}`;
}

function validText(found: TokenAccount, style: Style): string {
  return `${style.green(`Token VALID for ${found.app}:`)}\n${fields([
    ['fingerprint:', found.fingerprint],
    ['username:', harmlessLine(found.username)],
    ['scopes:', found.scopes.join(', ') || 'none'],
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
