/** The code host's current-user call: `GET /user` with a bearer token. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
import { type Loopback, sendJson, startLoopback } from './loopback.ts';

/** What the code host says about a token. */
export interface HostAccount {
  readonly login: string;
  /** What the token may do; `null`: a kind of token for which the header is absent. */
  readonly scopes: readonly string[] | null;
  /** Value of github-authentication-token-expiration, such as `2031-10-07 19:07:53 UTC`. */
  readonly expires?: string;
}

/** The only route for faults is `/user`. */
export interface CodeHostServer extends Loopback {
  /** Base address of the API, the path prefix included: what `code_host_api_url` is set to. */
  readonly apiUrl: string;
  /** From now on the token is valid. */
  allow(token: string, account: HostAccount): void;
  /** From now on the token is refused with 401. */
  revoke(token: string): void;
}

const DOCUMENTATION = 'https://docs.github.com/rest';

function problem(status: number, message: string, headers: Record<string, string> = {}): Fault {
  const body = { message, documentation_url: DOCUMENTATION, status: String(status) };
  return { status, body, headers };
}

/** Refusals as the code host words them, to be given to fail(). */
export const refusals = {
  badCredentials: problem(401, 'Bad credentials'),
  rateLimited: problem(403, 'API rate limit exceeded for user ID 1.', {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1893456000',
    'x-ratelimit-used': '5001',
    'x-ratelimit-resource': 'core',
  }),
  secondaryRateLimited: problem(403, 'You have exceeded a secondary rate limit.', {
    'retry-after': '60',
  }),
  tooManyRequests: problem(429, 'API rate limit exceeded', { 'retry-after': '30' }),
  singleSignOn: problem(403, 'Resource protected by organization SAML enforcement.', {
    'x-github-sso': 'required; url=https://github.com/orgs/example/sso?authorization_request=A1',
  }),
  suspended: problem(403, 'Sorry. Your account was suspended.'),
  unavailable: problem(503, 'No server is currently available to service your request.'),
} as const satisfies Record<string, Fault>;

function userOf(account: HostAccount, apiUrl: string): Record<string, unknown> {
  const { login } = account;
  const digest = createHash('sha256').update(login).digest();
  const own = `${apiUrl}/users/${login}`;
  return {
    login,
    id: digest.readUInt32BE(0),
    node_id: digest.toString('base64').slice(0, 12),
    avatar_url: '',
    gravatar_id: '',
    url: own,
    html_url: `https://github.com/${login}`,
    followers_url: `${own}/followers`,
    following_url: `${own}/following{/other_user}`,
    gists_url: `${own}/gists{/gist_id}`,
    starred_url: `${own}/starred{/owner}{/repo}`,
    subscriptions_url: `${own}/subscriptions`,
    organizations_url: `${own}/orgs`,
    repos_url: `${own}/repos`,
    events_url: `${own}/events{/privacy}`,
    received_events_url: `${own}/received_events`,
    type: 'User',
    site_admin: false,
    name: null,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 2,
    public_gists: 1,
    followers: 20,
    following: 0,
    created_at: '2008-01-14T04:33:35Z',
    updated_at: '2008-01-14T04:33:35Z',
  };
}

function headersOf(account: HostAccount, requestId: number): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, max-age=60, s-maxage=60',
    'x-github-media-type': 'github.v3; format=json',
    'x-github-request-id': `0000:00000:0000000:${String(requestId).padStart(7, '0')}:00000000`,
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-reset': '1893456000',
    'x-ratelimit-resource': 'core',
    'x-ratelimit-used': '1',
    ...(account.scopes !== null && {
      'x-oauth-scopes': account.scopes.join(', '),
      'x-accepted-oauth-scopes': '',
    }),
    ...(account.expires !== undefined && {
      'github-authentication-token-expiration': account.expires,
    }),
  };
}

/** Both words are taken, in any case. */
function tokenOf(request: IncomingMessage): string | null {
  return /^(?:bearer|token) +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** Starts a code host. `prefix` is the path before `/user`, such as `/api/v3`. */
export async function startCodeHost(
  options: { prefix?: string; tokens?: Readonly<Record<string, HostAccount>> } = {},
): Promise<CodeHostServer> {
  const prefix = options.prefix ?? '';
  const accounts = new Map(Object.entries(options.tokens ?? {}));
  let answered = 0;

  const refuse = (response: ServerResponse, status: number, message: string) =>
    sendJson(response, status, {
      message,
      documentation_url: DOCUMENTATION,
      status: String(status),
    });

  const server = await startLoopback({
    route: () => '/user',
    answer(request, response) {
      answered += 1;
      if (request.headers['user-agent'] === undefined) {
        return refuse(response, 403, 'Request forbidden by administrative rules.');
      }
      if (request.url !== `${prefix}/user`) return refuse(response, 404, 'Not Found');
      if (request.method !== 'GET') return refuse(response, 404, 'Not Found');
      if (request.headers.authorization === undefined) {
        return refuse(response, 401, 'Requires authentication');
      }
      const account = accounts.get(tokenOf(request) ?? '');
      if (account === undefined) return refuse(response, 401, 'Bad credentials');
      const apiUrl = `http://${request.headers.host}${prefix}`;
      sendJson(response, 200, userOf(account, apiUrl), headersOf(account, answered));
    },
  });

  return {
    ...server,
    apiUrl: server.url + prefix,
    allow: (token, account) => void accounts.set(token, account),
    revoke: (token) => void accounts.delete(token),
  };
}
