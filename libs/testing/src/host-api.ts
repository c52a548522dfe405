/**
 * The APIs of GitHub, GitLab, Gitea and Bitbucket as their published descriptions say, as far as a
 * deployment asks them: the account of a token, a GitHub App, checks of a commit, statuses on it.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HOST_ROUTES } from './host-api-routes.ts';
import type {
  ApiAnswer,
  ApiCall,
  ApiToken,
  ApiType,
  GitHubApp,
  HostApiServer,
} from './host-api-types.ts';
import { pullAnswer, pullHost } from './host-pulls.ts';
import { readBody, sendJson, startLoopback } from './loopback.ts';

const PREFIX = { github: '', gitlab: '/api/v4', gitea: '/api/v1', bitbucket: '/2.0' } as const;

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
      answerWith(request, response, pullAnswer(call) ?? HOST_ROUTES[type](call));
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
    pulls: pullHost(),
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
