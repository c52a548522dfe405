/** Tests an app's token with the code host's API and with git. */

import type { AppState } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { type CodeHost, codeHostOf, DEFAULT_HOST } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { onFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import type { Server } from '@runner/common/foundation/paths';
import { hostApi, isDenied, refuseOthers } from '@runner/common/hosts/api';
import { appApi, installationToken } from '@runner/common/hosts/github-app';
import { authorizationOf, hasApi } from '@runner/common/hosts/login';
import { digestOf, fingerprintOf, type Secret } from '@runner/common/secrets/secret';
import { jsonObject } from '@runner/common/text/json';
import { type AppKey, appKeyOf } from '@runner/common/tokens/app-key';
import { openToken } from '@runner/common/tokens/open';
import { type GitVerdict, gitVerdict } from './ask-git.ts';
import { askHost, Refused } from './ask-host.ts';
import { missingRights } from './permissions.ts';

/** A valid token. */
export interface TokenAccount {
  valid: true;
  app: string;
  /** Name of the code host; absent for `default`. */
  host?: string;
  fingerprint: string;
  /** null: the token has no account, like a repository's token. */
  username: string | null;
  /** Empty when the host announces none. */
  scopes: string[];
  /** ISO 8601 UTC; absent when the token does not expire. */
  expires_at?: string;
  /** Scopes that commit_status or --require-checks need; absent when none is missing. */
  missing?: string[];
  /** Absent when git was not asked: only the API of the host `default` is configured. */
  git?: GitVerdict;
}

/**
 * Asks both. Throws `no_token_configured`, `token_invalid`, `rate_limited`, `code_host_error`,
 * `network_error`; with the verdict of git in the facts.
 */
export async function findAccount({ io, paths }: Server, name: string): Promise<TokenAccount> {
  const app = requireApp(paths, name);
  // First: who may only look cannot read it, and has no tokens.
  const config = readConfig(paths);
  const token = openToken(paths, io.env, name);
  if (!token) throw new Failure('no_token_configured', `the app '${name}' has no token`);
  const host = codeHostOf(config, io.env, app.host);
  const askingGit = gitVerdict({ io, paths }, app, host);
  const asked = hasApi(host.type, token) ? apiVerdict(io, app, host, token) : undefined;
  const [account, git] = await Promise.all([
    asked?.catch(onFailure((failure) => failure)),
    askingGit,
  ]);
  const verdict = account ?? verdictOfGit(app, token, git);
  if (verdict instanceof Failure)
    throw new Failure(verdict.code, verdict.message, { ...verdict.facts, ...(git && { git }) });
  const missing = missingRights(app, config, { type: host.type, token, scopes: verdict.scopes });
  const hostName = host.name === DEFAULT_HOST ? {} : { host: host.name };
  return {
    valid: true,
    app: name,
    ...hostName,
    fingerprint: fingerprintOf(digestOf(token)),
    ...verdict,
    ...(missing.length > 0 && { missing }),
    ...(git && { git }),
  };
}

type KnownAccount = Pick<TokenAccount, 'username' | 'scopes' | 'expires_at'>;

async function apiVerdict(
  io: Io,
  app: AppState,
  host: CodeHost,
  token: Secret,
): Promise<KnownAccount> {
  const key = appKeyOf(token);
  if (key) return appVerdict({ io, app, host, token }, key);
  const authorization = authorizationOf(host.type, token);
  const api = hostApi(host, { token, authorization, env: io.env });
  try {
    const { expires_at: end, ...account } = await askHost(api, app.repo, io.now());
    return { ...account, ...(end !== undefined && { expires_at: end }) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, message } = error;
    throw refused(app, token, status, ` (${status}${message ? `: ${message}` : ''})`);
  }
}

/** A GitHub App: its name, and its permissions for the repository. Its key does not expire. */
async function appVerdict(
  { io, app, host, token }: Readonly<{ io: Io; app: AppState; host: CodeHost; token: Secret }>,
  key: AppKey,
): Promise<KnownAccount> {
  const api = appApi(host, key, io);
  const answer = await api.get('/app');
  refuseOthers(api, answer);
  if (isDenied(answer)) {
    const said = api.said(answer);
    throw refused(app, token, answer.status, ` (${answer.status}${said ? `: ${said}` : ''})`);
  }
  const { slug } = jsonObject(answer.body) ?? {};
  const { permissions } = await installationToken(host, key, app.repo, io);
  return { username: typeof slug === 'string' ? `${slug}[bot]` : null, scopes: [...permissions] };
}

function refused({ app }: AppState, token: Secret, status: number, words: string): Failure {
  const fingerprint = fingerprintOf(digestOf(token));
  return new Failure(
    'token_invalid',
    `the code host refused the token ${fingerprint} of '${app}'${words}`,
    { valid: false, app, fingerprint, http_status: status },
  );
}

/** Without an API, only git is tested. */
function verdictOfGit(
  app: AppState,
  token: Secret,
  git: GitVerdict | undefined,
): KnownAccount | Failure {
  if (!git?.error) return { username: null, scopes: [] };
  if (git.error === 'token_invalid') return refused(app, token, 401, ` for ${app.repo}`);
  return new Failure(git.error, git.message ?? '');
}
