/** The account that an app's token belongs to, as the code host describes it. */

import { requireApp } from '@runner/common/apps/store';
import { codeHostOf } from '@runner/common/config/code-hosts';
import { readConfig } from '@runner/common/config/file';
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { type HttpAnswer, send } from '@runner/common/http/request';
import { digestOf, fingerprintOf, redactor, type Secret } from '@runner/common/secrets/secret';
import { type JsonObject, jsonObject } from '@runner/common/text/json';
import { openToken } from '@runner/common/tokens/open';

/** A valid token. */
export interface TokenAccount {
  valid: true;
  app: string;
  fingerprint: string;
  username: string;
  /** Empty when the host announces none. */
  scopes: string[];
  /** ISO 8601 UTC; absent when the token does not expire. */
  expires_at?: string;
}

/** Limits of a request, in milliseconds, and of its body, in bytes. */
const TIMEOUT = 10_000;
const BODY_MAX = 1_048_576;
/** Redirects to follow, on the same origin only. */
const REDIRECTS = 3;
/** Longest text of the host that is shown. */
const TEXT_MAX = 200;

/** Throws `no_token_configured`, `token_invalid`, `rate_limited`, `code_host_error`, `network_error`. */
export async function findAccount(paths: Paths, env: Env, name: string): Promise<TokenAccount> {
  const { app } = requireApp(paths, name);
  const token = openToken(paths, env, app);
  if (!token) throw new Failure('no_token_configured', `the app '${app}' has no token`);
  const fingerprint = fingerprintOf(digestOf(token));
  const { apiUrl } = codeHostOf(readConfig(paths), env);
  const answer = await ask(`${apiUrl}/user`, token, env);
  // The host may repeat the token in its answer.
  const redact = redactor([token]);
  return { valid: true, app, fingerprint, ...accountOf(answer, app, fingerprint, redact) };
}

async function ask(address: string, token: Secret, env: Env): Promise<HttpAnswer> {
  let url = address;
  for (let hop = 0; ; hop += 1) {
    const answer = await send({
      method: 'GET',
      url,
      headers: { authorization: `Bearer ${token.reveal()}`, accept: 'application/vnd.github+json' },
      timeout: TIMEOUT,
      limit: BODY_MAX,
      env,
    });
    const { location } = answer.headers;
    if (![301, 302, 307, 308].includes(answer.status) || location === undefined) return answer;
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    // The token never leaves its origin.
    if (next?.origin !== new URL(address).origin) {
      throw new Failure(
        'code_host_error',
        'the code host redirects to another origin: the token was not sent there',
      );
    }
    if (hop === REDIRECTS)
      throw new Failure('code_host_error', 'the code host redirects too many times');
    url = next.href;
  }
}

/** Reads a 2xx answer; any other one becomes a Failure. */
function accountOf(
  answer: HttpAnswer,
  app: string,
  fingerprint: string,
  redact: (text: string) => string,
): Pick<TokenAccount, 'username' | 'scopes' | 'expires_at'> {
  const { status, headers } = answer;
  const body = jsonObject(answer.body) ?? {};
  const said = textIn(body, 'message', redact);
  if (isRateLimit(answer, said)) {
    throw new Failure(
      'rate_limited',
      `the code host limits the rate of requests (${status})${untilOf(headers)}`,
    );
  }
  if (status === 401 || status === 403) {
    const details = { valid: false, app, fingerprint, http_status: status };
    throw new Failure(
      'token_invalid',
      `the code host refused the token ${fingerprint} of '${app}' (${status}${said ? `: ${said}` : ''})`,
      details,
    );
  }
  if (status < 200 || status > 299) {
    throw new Failure(
      'code_host_error',
      `the code host answered ${status}${said ? `: ${said}` : ''}`,
      { http_status: status },
    );
  }
  const username = textIn(body, 'login', redact);
  if (!username)
    throw new Failure(
      'code_host_error',
      'the code host did not answer with an account: is the address right?',
    );
  const expiry = expiryOf(headers);
  return {
    username,
    scopes: scopesOf(redact(headers['x-oauth-scopes'] ?? '')),
    ...(expiry !== undefined && { expires_at: expiry }),
  };
}

/** When to try again, if the host says so. */
function untilOf(headers: HttpAnswer['headers']): string {
  const after = headers['retry-after'] ?? '';
  if (/^\d{1,6}$/.test(after)) return `, try again in ${after} s`;
  const reset = headers['x-ratelimit-reset'] ?? '';
  if (headers['x-ratelimit-remaining'] !== '0' || !/^\d{1,11}$/.test(reset)) return '';
  return `, try again after ${new Date(Number(reset) * 1000).toISOString()}`;
}

function isRateLimit({ status, headers }: HttpAnswer, said: string): boolean {
  if (status === 429) return true;
  return (
    status === 403 &&
    (headers['x-ratelimit-remaining'] === '0' ||
      'retry-after' in headers ||
      /rate limit/i.test(said))
  );
}

function textIn(body: JsonObject, field: string, redact: (text: string) => string): string {
  const value = body[field];
  return typeof value === 'string' ? redact(value).slice(0, TEXT_MAX) : '';
}

/** `repo, read:org` as a list, without anything that is not a scope. */
function scopesOf(header: string): string[] {
  return header
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => /^[\w:.-]{1,64}$/.test(scope));
}

/** Reads `2031-10-07 19:07:53 UTC`, also with a numeric zone. */
function expiryOf(headers: HttpAnswer['headers']): string | undefined {
  const text = headers['github-authentication-token-expiration'] ?? '';
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (UTC|[+-]\d{4})$/.exec(text);
  if (!match) return undefined;
  const zone = match[3] === 'UTC' ? 'Z' : `${match[3]?.slice(0, 3)}:${match[3]?.slice(3)}`;
  const time = Date.parse(`${match[1]}T${match[2]}${zone}`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
