/**
 * The APIs of GitHub, GitLab, Gitea and Bitbucket as their published descriptions say, as far as a
 * deployment asks them: the account of a token, a GitHub App, checks of a commit, statuses on it.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HOST_ROUTES } from './host-api-routes.ts';
import { type Loopback, readBody, sendJson, startLoopback } from './loopback.ts';

/** The types of hosts that have an API. */
export type ApiType = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

/** What a host knows about a token. */
export interface ApiToken {
  /** The account; absent: of a project, a repository or an App. */
  readonly login?: string;
  readonly scopes?: readonly string[];
  /** As the host writes it: a time of GitHub, a day of GitLab. */
  readonly expires?: string;
  /** Of an email:token pair of Bitbucket. */
  readonly email?: string;
  /** It may only read this repository, and not its account. */
  readonly repo?: string;
}

/** A check of a commit, in the words of its host. */
export interface ApiCheck {
  readonly name: string;
  readonly status: string;
  /** GitHub: of a completed check run; absent: it is a commit status. */
  readonly conclusion?: string | null;
}

/** What was posted about a commit, a deployment or its status. */
export interface ApiPost {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

/** A started API. The route for faults is `<method> <last part of the path>`. */
export interface HostApiServer extends Loopback {
  readonly type: ApiType;
  /** With the path under which the host serves its API. */
  readonly apiUrl: string;
  readonly tokens: Map<string, ApiToken>;
  /** Of each commit. */
  readonly checks: Map<string, ApiCheck[]>;
  /** State of the pipelines of each commit, of GitLab. */
  readonly pipelines: Map<string, string>;
  readonly posts: ApiPost[];
  /** A GitHub App, by its id. */
  installApp(id: string, publicKey: string, repo: string): void;
  /** The tokens that were made for Apps, newest last. */
  readonly minted: string[];
}

export interface GitHubApp {
  readonly publicKey: string;
  readonly repo: string;
}

/** One request, as a route sees it. */
export interface ApiCall {
  readonly method: string;
  /** Without the prefix of the API and without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: ApiToken | undefined;
  /** The id of the App that signed the request. */
  readonly app: string | undefined;
  readonly body: Record<string, unknown>;
  readonly host: HostApiServer;
  readonly apps: ReadonlyMap<string, GitHubApp>;
}

/** Status, body and headers. */
export type ApiAnswer = readonly [number, unknown, Readonly<Record<string, string>>?];

const PREFIX = { github: '', gitlab: '/api/v4', gitea: '/api/v1', bitbucket: '/2.0' } as const;

/** Starts the API of a host. */
export async function startHostApi(type: ApiType): Promise<HostApiServer> {
  const apps = new Map<string, GitHubApp>();
  const prefix = PREFIX[type];
  const server = await startLoopback({
    route: (request) =>
      `${request.method} ${(request.url ?? '').split('?')[0]?.split('/').at(-1) ?? ''}`,
    async answer(request, response) {
      const bytes = await readBody(request);
      const url = new URL(request.url ?? '/', 'http://host');
      if (!url.pathname.startsWith(`${prefix}/`)) return sendJson(response, 404, {});
      const call: ApiCall = {
        method: request.method ?? 'GET',
        path: url.pathname.slice(prefix.length),
        query: url.searchParams,
        token: tokenOf(request, host),
        app: appOf(request, apps),
        body: bytes?.length ? JSON.parse(bytes.toString('utf8')) : {},
        host,
        apps,
      };
      answerWith(request, response, HOST_ROUTES[type](call));
    },
  });
  const host: HostApiServer = {
    ...server,
    type,
    apiUrl: server.url + prefix,
    tokens: new Map(),
    checks: new Map(),
    pipelines: new Map(),
    posts: [],
    minted: [],
    installApp: (id, publicKey, repo) => void apps.set(id, { publicKey, repo }),
  };
  return host;
}

/** With an ETag, and 304 for one that the client knows. */
function answerWith(
  request: IncomingMessage,
  response: ServerResponse,
  [status, body, headers = {}]: ApiAnswer,
): void {
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 16);
  const etag = `W/"${hash}"`;
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag });
    response.end();
    return;
  }
  sendJson(response, status, body, { ...(status === 200 && { etag }), ...headers });
}

function tokenOf({ headers }: IncomingMessage, host: HostApiServer): ApiToken | undefined {
  const [scheme = '', value = ''] = (headers.authorization ?? '').split(' ');
  const isBasic = scheme.toLowerCase() === 'basic';
  const text = isBasic ? Buffer.from(value, 'base64').toString('utf8') : value;
  const at = isBasic ? text.indexOf(':') : -1;
  const found = host.tokens.get(text.slice(at + 1));
  // An API token of Bitbucket needs its mail address, any other token must not have one.
  return found && (found.email ?? '') === text.slice(0, Math.max(at, 0)) ? found : undefined;
}

/** Checks the signature and the times of a JSON Web Token, as GitHub does. */
function appOf(
  { headers }: IncomingMessage,
  apps: ReadonlyMap<string, GitHubApp>,
): string | undefined {
  const [head = '', payload = '', signature = ''] = (headers.authorization ?? '')
    .replace(/^bearer /i, '')
    .split('.');
  if (signature === '') return undefined;
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  const { iss, iat, exp } = read(payload);
  const app = apps.get(String(iss));
  const now = Date.now() / 1000;
  if (!app || read(head).alg !== 'RS256' || iat > now || exp < now || exp - now > 600)
    return undefined;
  const key = createPublicKey(app.publicKey);
  const signed = Buffer.from(`${head}.${payload}`);
  return verify('sha256', signed, key, Buffer.from(signature, 'base64url'))
    ? String(iss)
    : undefined;
}
