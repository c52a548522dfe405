/** `tokens test --all`: every distinct token, and git with each of its apps. */
import { findApp, missingRoot } from '@runner/common/apps/store';
import { codeHostOf, codeHostsOf, DEFAULT_HOST } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure } from '@runner/common/foundation/failure';
import { findAccount } from './account.ts';
import { type GitVerdict, gitVerdict } from './ask-git.ts';
import { groupTokens, type TokenGroup } from './groups.ts';
import { announceEnds, rememberEnds } from './remember.ts';
import { type TestContext, warnOfExpiry } from './warn.ts';

/** Parallel requests: a code host may regard more as abuse. */
const PARALLEL = 4;

/** One distinct token of `--all`. */
export interface TokenVerdict {
  fingerprint: string;
  apps: string[];
  /** Name of the code host; absent for `default`. */
  host?: string;
  /** null: the host did not say. */
  valid: boolean | null;
  username: string | null;
  scopes: string[];
  expires_at: string | null;
  http_status: number | null;
  /** Code and sentence of the error; null for a valid token. */
  error: string | null;
  message: string | null;
  /** Of all its apps; absent when git was not asked. */
  git?: GitVerdict;
}

/** Tests every distinct token at each host, a few at a time. */
export async function testAll(context: TestContext, isQuiet: boolean) {
  const { io, paths, note } = context;
  // An invalid configuration is reported once, not for every token.
  codeHostsOf(readConfig(paths), io.env);
  const missing = missingRoot(paths);
  if (missing) note(missing);
  const { groups, failed, keysRefused } = groupTokens(paths, io.env);
  if (keysRefused) throw keysRefused;
  const tokens = groups.flatMap((group) => byHost(paths, group));
  const verdicts: TokenVerdict[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < tokens.length; index = next++)
      verdicts[index] = await verdictOf(context, tokens[index] as HostGroup);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  for (const { app, failure } of failed) note(`${app}: ${failure.message} (${failure.code})`);
  for (const { apps, expires_at } of verdicts) warnOfExpiry(context, apps, expires_at);
  const good = failed.length === 0 && verdicts.every(isGood);
  const accepted = verdicts.filter(({ valid }) => valid === true);
  rememberEnds(context, accepted);
  if (!isQuiet)
    return { value: { count: verdicts.length, tokens: verdicts }, status: good ? 0 : 1 };
  await announceEnds(context, accepted);
  const bad = verdicts.filter((verdict) => !isGood(verdict));
  if (bad.length === 0) return { status: good ? 0 : 1 };
  return { value: { count: bad.length, tokens: bad }, status: 1 };
}

/** A token that one host knows, and the apps there that share it. */
type HostGroup = Pick<TokenGroup, 'fingerprint' | 'apps'> & { readonly host: string };

function byHost(paths: TestContext['paths'], { fingerprint, apps }: TokenGroup): HostGroup[] {
  const groups = new Map<string, HostGroup>();
  for (const name of apps) {
    const { host = DEFAULT_HOST } = findApp(paths, name) ?? {};
    const group = groups.get(host) ?? { fingerprint, apps: [], host };
    groups.set(host, group);
    group.apps.push(name);
  }
  return [...groups.values()];
}

const isGood = ({ valid, git }: TokenVerdict) => valid === true && git?.ok !== false;

async function verdictOf(context: TestContext, group: HostGroup): Promise<TokenVerdict> {
  const { fingerprint, apps, host } = group;
  const [first = '', ...others] = apps;
  const about = {
    fingerprint,
    apps,
    ...(host !== DEFAULT_HOST && { host }),
    valid: null,
    username: null,
    scopes: [],
    expires_at: null,
    http_status: null,
    error: null,
    message: null,
  };
  try {
    const account = await findAccount(context, first);
    const { username, scopes, expires_at = null } = account;
    const git = await gitOfAll(context, account.git, others);
    return { ...about, valid: true, username, scopes, expires_at, ...(git && { git }) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'interrupted') throw error;
    const { http_status: status, git } = error.facts;
    return {
      ...about,
      valid: error.code === 'token_invalid' ? false : null,
      http_status: typeof status === 'number' ? status : null,
      error: error.code,
      message: error.message,
      ...(git !== undefined && { git: git as GitVerdict }),
    };
  }
}

/** The first app whose repository git cannot read decides. */
async function gitOfAll(
  { io, paths }: TestContext,
  first: GitVerdict | undefined,
  others: readonly string[],
): Promise<GitVerdict | undefined> {
  if (!first?.ok) return first;
  for (const name of others) {
    const app = findApp(paths, name);
    const host = app && codeHostOf(readConfig(paths), io.env, app.host);
    const verdict = host && (await gitVerdict({ io, paths }, app, host));
    if (verdict && !verdict.ok) return { ...verdict, message: `${name}: ${verdict.message}` };
  }
  return first;
}
