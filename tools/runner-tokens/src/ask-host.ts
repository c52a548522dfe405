/** Reads a token's account, scopes and expiry from each type of code host. */
import { Failure } from '@runner/common/foundation/failure';
import { type HostApi, isDenied, refuseOthers } from '@runner/common/hosts/api';
import type { HttpAnswer } from '@runner/common/http/request';
import { type JsonObject, jsonObject } from '@runner/common/text/json';

/** An accepted token. */
export interface Account {
  /** null: the token has no account, or may not read it. */
  readonly username: string | null;
  /** Empty when the host announces none. */
  readonly scopes: string[];
  /** ISO 8601 UTC; undefined when the host announces no end. */
  readonly expires_at?: string | undefined;
}

/** The host refused the token. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, said: string) {
    super(said);
    this.status = status;
  }
}

/** Longest name shown, in characters. */
const NAME_MAX = 200;
/** A stated end nearer to now than this is the fault of the host, which gave the time; in ms. */
const DOUBTFUL = 3_000_000;

/** Asks the host. Throws `Refused`, `rate_limited`, `code_host_error`, `network_error`. */
export async function askHost(api: HostApi, repo: string, now: Date): Promise<Account> {
  const said = await ASK[api.type](api, repo);
  const username = said.username === null ? null : api.redact(said.username).slice(0, NAME_MAX);
  const account = { ...said, username, scopes: onlyScopes(said.scopes, api.redact) };
  const near = Math.abs(Date.parse(account.expires_at ?? '') - now.getTime()) < DOUBTFUL;
  return near ? { ...account, expires_at: undefined } : account;
}

const ASK: Readonly<Record<HostApi['type'], (api: HostApi, repo: string) => Promise<Account>>> = {
  async github(api) {
    const answer = await accepted(api, '/user');
    return {
      username: required(answer, 'login'),
      scopes: listed(answer),
      expires_at: gitHubEnd(answer.headers['github-authentication-token-expiration'] ?? ''),
    };
  },
  async gitlab(api) {
    const token = await api.get('/personal_access_tokens/self');
    refuseOthers(api, token.status === 404 ? { ...token, status: 403 } : token);
    if (token.status === 401) throw new Refused(401, api.said(token));
    const about = token.status < 300 ? (jsonObject(token.body) ?? {}) : {};
    if (about.active === false || about.revoked === true)
      throw new Refused(token.status, 'it is not active');
    const user = await api.get('/user');
    refuseOthers(api, user);
    if (token.status > 299 && isDenied(user)) throw new Refused(user.status, api.said(user));
    const login = jsonObject(user.body) ?? {};
    return {
      // A token that may only read repositories cannot ask for its user, but has a name.
      username: (textIn(login, 'username') || textIn(about, 'name')) ?? null,
      scopes: Array.isArray(about.scopes) ? about.scopes.map(String) : [],
      expires_at: dayEnd(about.expires_at),
    };
  },
  async gitea(api, repo) {
    const answer = await accepted(api, '/user', `/repos/${repo}`);
    const { login } = jsonObject(answer.body) ?? {};
    return { username: typeof login === 'string' ? login : null, scopes: [] };
  },
  async bitbucket(api, repo) {
    const answer = await accepted(api, '/user', `/repositories/${repo}`);
    const body = jsonObject(answer.body) ?? {};
    const username = textIn(body, 'username') || textIn(body, 'nickname');
    return { username: username ?? null, scopes: listed(answer) };
  },
  git: () => Promise.reject(new Error('git has no API')),
};

/**
 * The answer at the first path or, if the token lacks the permission, at the second: a token that can only
 * read the repository is valid.
 */
async function accepted(api: HostApi, path: string, second?: string): Promise<HttpAnswer> {
  const answer = await api.get(path);
  refuseOthers(api, answer);
  if (!isDenied(answer)) return answer;
  if (second !== undefined) {
    const other = await api.get(second);
    if (other.status === 429 || other.status > 499) refuseOthers(api, other);
    if (other.status < 300) return other;
  }
  throw new Refused(answer.status, api.said(answer));
}

function required(answer: HttpAnswer, field: string): string {
  const text = textIn(jsonObject(answer.body) ?? {}, field);
  if (text) return text;
  throw new Failure(
    'code_host_error',
    'the code host did not answer with an account: is the address right?',
  );
}

function textIn(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  return typeof value === 'string' ? value : undefined;
}

/** `repo, read:org` as a list. */
function listed({ headers }: HttpAnswer): string[] {
  return (headers['x-oauth-scopes'] ?? '').split(',').map((scope) => scope.trim());
}

/** Without anything that is not a scope, such as the token. */
function onlyScopes(scopes: readonly string[], redact: (text: string) => string): string[] {
  return scopes.map(redact).filter((scope) => /^[\w:.-]{1,64}$/.test(scope));
}

/** Reads `2031-10-07 19:07:53 UTC`, also with a numeric zone. */
function gitHubEnd(text: string): string | undefined {
  const match = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (UTC|[+-]\d{4})$/.exec(text);
  if (!match) return undefined;
  const zone = match[3] === 'UTC' ? 'Z' : `${match[3]?.slice(0, 3)}:${match[3]?.slice(3)}`;
  const time = Date.parse(`${match[1]}T${match[2]}${zone}`);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** GitLab ends a token at the beginning of a day, UTC. */
function dayEnd(day: unknown): string | undefined {
  const time = typeof day === 'string' ? Date.parse(day) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
