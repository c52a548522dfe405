/** What each host answers, with the fields that its published description requires. */
import type { ApiAnswer, ApiCall, ApiType } from './host-api-types.ts';

const END = '2099-01-01T00:00:00Z';

/** What GitHub says of a description that it does not take. */
function badDescription(description: unknown): string | undefined {
  if (typeof description !== 'string') return undefined;
  if (/[^\0-\uffff]/u.test(description)) return "description doesn't accept 4-byte Unicode";
  const max = 'description is too long (maximum is 140 characters)';
  return description.length > 140 ? max : undefined;
}

const posted = ({ host, path, body }: ApiCall): ApiAnswer => {
  host.posts.push({ path, body });
  return [201, { id: host.posts.length, ...body }];
};

/** The deployments of a commit in an environment, newest first. */
function deploymentsOf({ host, path, query }: ApiCall): unknown[] {
  const made = host.posts.flatMap(({ path: at, body }, index) =>
    at === path && body.ref === query.get('sha') && body.environment === query.get('environment')
      ? [{ id: index + 1, payload: body.payload }]
      : [],
  );
  return made.reverse().slice(0, Number(query.get('per_page') ?? 30));
}

/** The commit in a path such as `…/commits/<sha>/statuses`. */
const shaIn = (path: string) => /[0-9a-f]{40}/.exec(path)?.[0] ?? '';

/** Whether a token may read what a path is about. */
const mayRead = ({ token, path }: ApiCall) =>
  token !== undefined &&
  (token.repo === undefined || decodeURIComponent(path).includes(`/${token.repo}`));

function github(call: ApiCall): ApiAnswer {
  const { host, path, method, token, app, apps, body } = call;
  if (path === '/app' && app) return [200, { id: Number(app), slug: 'shop-deployer' }];
  const installed = app && apps.get(app);
  if (installed && path === `/repos/${installed.repo}/installation`)
    return [200, { id: 77, app_id: Number(app) }];
  if (installed && method === 'POST' && path === '/app/installations/77/access_tokens') {
    const minted = `ghs_${String(host.minted.length).padStart(36, 'minted')}`;
    host.minted.push(minted);
    host.tokens.set(minted, { repo: installed.repo });
    return [
      201,
      { token: minted, expires_at: END, permissions: {}, repositories: body.repositories },
    ];
  }
  if (app) return [404, { message: 'Not Found', status: '404' }];
  if (!token) return [401, { message: 'Bad credentials', status: '401' }];
  const headers = {
    ...(token.scopes && { 'x-oauth-scopes': token.scopes.join(', ') }),
    ...(token.expires && { 'github-authentication-token-expiration': token.expires }),
  };
  if (path === '/user' && token.login) return [200, { login: token.login, id: 1 }, headers];
  if (path === '/user')
    return [403, { message: 'Resource not accessible by integration', status: '403' }];
  if (!mayRead(call)) return [404, { message: 'Not Found', status: '404' }];
  const message = method === 'POST' ? badDescription(body.description) : undefined;
  if (message !== undefined) {
    const errors = [{ resource: 'Status', code: 'custom', field: 'description', message }];
    return [422, { message: 'Validation Failed', errors, status: '422' }];
  }
  if (method === 'POST') return posted(call);
  if (path.endsWith('/deployments')) return [200, deploymentsOf(call)];
  const checks = host.checks.get(shaIn(path)) ?? [];
  const runs = checks.filter(({ conclusion }) => conclusion !== undefined);
  const statuses = checks.filter(({ conclusion }) => conclusion === undefined);
  if (path.endsWith('/check-runs')) return [200, { total_count: runs.length, check_runs: runs }];
  if (!path.endsWith('/status')) return [404, { message: 'Not Found', status: '404' }];
  const list = statuses.map(({ name, status }) => ({ context: name, state: status }));
  return [200, { state: 'pending', total_count: list.length, statuses: list }];
}

function gitlab(call: ApiCall): ApiAnswer {
  const { host, path, method, token, query } = call;
  if (!token) return [401, { message: '401 Unauthorized' }];
  const scopes = token.scopes ?? [];
  if (path === '/personal_access_tokens/self') {
    const times = { created_at: '2026-01-01T00:00:00Z', expires_at: token.expires ?? null };
    const about = { id: 7, name: 'deploy', revoked: false, active: true, user_id: 3 };
    return [200, { ...about, ...times, scopes }];
  }
  const isApi = scopes.includes('api') || scopes.includes('read_api');
  if (path === '/user' && (isApi || scopes.includes('read_user')))
    return [200, { id: 3, username: token.login, state: 'active' }];
  if (!isApi) {
    const error_description =
      'The request requires higher privileges than provided by the access token.';
    return [403, { error: 'insufficient_scope', error_description, scope: 'api read_api' }];
  }
  if (method === 'POST') return posted(call);
  if (path.endsWith('/pipelines')) {
    const status = host.pipelines.get(query.get('sha') ?? '');
    const about = { id: 1, sha: query.get('sha'), ref: 'main', source: 'push', status };
    return [200, status ? [about] : []];
  }
  if (!path.endsWith('/statuses')) return [404, { message: '404 Not Found' }];
  const checks = host.checks.get(shaIn(path)) ?? [];
  return [200, checks.map(({ name, status }) => ({ name, status, allow_failure: false }))];
}

function gitea(call: ApiCall): ApiAnswer {
  const { host, path, method, query, token } = call;
  if (!token) return [401, { message: 'invalid username, password or token' }];
  const lacks = (scope: string): ApiAnswer => [
    403,
    { message: `token does not have at least one of required scope(s): [${scope}]` },
  ];
  const scopes = token.scopes ?? [];
  if (path === '/user')
    return scopes.includes('read:user') ? [200, { login: token.login }] : lacks('read:user');
  if (!scopes.some((scope) => scope.endsWith(':repository'))) return lacks('read:repository');
  if (method === 'POST') return posted(call);
  if (!path.endsWith('/status')) return [200, { full_name: path.slice('/repos/'.length) }];
  const all = host.checks.get(shaIn(path)) ?? [];
  const size = Math.min(Number(query.get('limit') ?? 30), 50);
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  const some = all.slice(from, from + size).map(({ name, status }) => ({ context: name, status }));
  const statuses = some.length === 0 ? null : some;
  const total = { 'x-total-count': String(all.length) };
  return [200, { state: 'pending', total_count: some.length, statuses }, total];
}

function bitbucket(call: ApiCall): ApiAnswer {
  const { host, path, method, token, body } = call;
  const refused = (status: number, message: string): ApiAnswer => [
    status,
    { type: 'error', error: { message } },
  ];
  if (!token) return refused(401, 'Token is invalid, expired, or not supported for this endpoint.');
  const headers = { 'x-oauth-scopes': (token.scopes ?? []).join(', ') };
  if (path === '/user' && !token.login)
    return refused(403, 'Your credentials lack one or more required privilege scopes.');
  if (path === '/user') return [200, { type: 'user', nickname: token.login }, headers];
  if (!mayRead(call)) return refused(404, 'Repository not found');
  if (method === 'POST' && String(body.key).length > 40)
    return refused(400, 'key: Ensure this value has at most 40 characters.');
  if (method === 'POST') return posted(call);
  if (!path.endsWith('/statuses')) return [200, { type: 'repository' }, headers];
  const checks = host.checks.get(shaIn(path)) ?? [];
  const values = checks.map(({ name, status }) => ({ key: name, name, state: status }));
  return [200, { pagelen: 100, size: values.length, values }];
}

export const HOST_ROUTES: Readonly<Record<ApiType, (call: ApiCall) => ApiAnswer>> = {
  github,
  gitlab,
  gitea,
  bitbucket,
};
