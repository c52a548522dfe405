/**
 * A real git server: `git http-backend` behind node:http, which demands a token as a code host
 * does.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Files } from './git-import.ts';
import { type CommitOptions, gitEnvironment, gitRepos } from './git-repos.ts';
import { type Loopback, startLoopback } from './loopback.ts';
import { temporaryFolder } from './temp.ts';

/** The user name beside which a code host takes a token as the password. */
const TOKEN_USER = 'x-access-token';

/**
 * Routes for faults: `info/refs` (every conversation begins with it), `git-upload-pack`,
 * `git-receive-pack`, `other`.
 */
export interface GitServer extends Loopback {
  /** Makes an empty repository `owner/name`, for which a token is needed unless it is public. */
  createRepo(name: string, options?: { public?: boolean }): Promise<void>;
  /** Adds a commit and resolves its full id. */
  commit(name: string, files: Files, message: string, options?: CommitOptions): Promise<string>;
  deleteBranch(name: string, branch: string): Promise<void>;
  /** The full id that a branch (default `main`) or tag points to; null when there is none. */
  head(name: string, ref?: string): Promise<string | null>;
  /** Absolute path of the bare repository. */
  path(name: string): string;
  /** From now on the token opens every repository, with this user name (default `x-access-token`; null: any). */
  allow(token: string, user?: string | null): void;
  /** From now on the token is refused. */
  revoke(token: string): void;
}

interface GitPath {
  /** `owner/name`, without `.git`. */
  readonly repo: string;
  /** What follows, without a slash in front. */
  readonly rest: string;
  readonly query: string;
}

function gitPath(request: IncomingMessage): GitPath | null {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const match =
    /^\/((?:[\w.-]+\/)*[\w.-]+?)(?:\.git)?\/(info\/refs|git-[a-z-]+|HEAD|objects\/.*)$/.exec(path);
  const [, repo, rest] = match ?? [];
  if (repo === undefined || rest === undefined || repo.includes('..')) return null;
  return { repo, rest, query };
}

/** User name and password; null without them. */
function loginOf(request: IncomingMessage): { user: string; password: string } | null {
  const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ', 2);
  if (scheme?.toLowerCase() !== 'basic') return null;
  const [user = '', ...password] = Buffer.from(value, 'base64').toString('utf8').split(':');
  return { user, password: password.join(':') };
}

function refuse(response: ServerResponse, status: number, text: string): void {
  const headers: Record<string, string> = { 'Content-Type': 'text/plain; charset=utf-8' };
  if (status === 401) headers['WWW-Authenticate'] = 'Basic realm="Code host"';
  response.writeHead(status, headers);
  response.end(`${text}\n`);
}

/** The header block that a CGI program writes first, and where the body begins; null: incomplete. */
function cgiHeader(
  bytes: Buffer,
): { status: number; headers: [string, string][]; body: number } | null {
  const end = /\r?\n\r?\n/.exec(bytes.toString('latin1'));
  if (end === null) return null;
  const lines = bytes.toString('latin1', 0, end.index).split(/\r?\n/);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1] ?? '200';
  return {
    status: Number.parseInt(status, 10),
    headers: headers.filter(([name]) => name.toLowerCase() !== 'status'),
    body: end.index + end[0].length,
  };
}

/** Hands a request to `git http-backend` and streams its answer. */
function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { root, path, old }: Readonly<{ root: string; path: GitPath; old: boolean }>,
): void {
  const given = (name: string) => String(request.headers[name] ?? '');
  const child = spawn(join(execPath(), 'git-http-backend'), [], {
    env: {
      ...gitEnvironment(),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: `/${path.repo}.git/${path.rest}`,
      QUERY_STRING: path.query,
      CONTENT_TYPE: given('content-type'),
      // Absent for a body of unknown length: git then reads to the end.
      ...(request.headers['content-length'] && { CONTENT_LENGTH: given('content-length') }),
      HTTP_CONTENT_ENCODING: given('content-encoding'),
      GIT_PROTOCOL: old ? '' : given('git-protocol'),
      REMOTE_ADDR: '127.0.0.1',
      // With a user, pushing is allowed.
      ...(loginOf(request) !== null && { REMOTE_USER: TOKEN_USER }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  response.on('close', () => child.kill());
  child.on('error', () => response.destroy());

  let waiting: Buffer | null = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (waiting === null) return;
    waiting = Buffer.concat([waiting, chunk]);
    const header = cgiHeader(waiting);
    if (header === null) return;
    response.writeHead(header.status, Object.fromEntries(header.headers));
    response.write(waiting.subarray(header.body));
    waiting = null;
    child.stdout.pipe(response);
  });
  child.stdout.on('end', () => {
    if (waiting !== null) refuse(response, 500, 'git http-backend gave no answer');
  });
}

let knownExecPath: string | undefined;

function execPath(): string {
  knownExecPath ??= execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  return knownExecPath;
}

/**
 * Starts a server without repositories at which `token`, if given, is valid. An `old` one speaks the
 * first version of the protocol and gives no commit that no branch or tag points to.
 */
export async function startGitServer(
  options: { token?: string; old?: boolean } = {},
): Promise<GitServer> {
  const root = temporaryFolder('git-server');
  const repos = gitRepos(root);
  const tokens = new Map<string, string | null>();
  if (options.token !== undefined) tokens.set(options.token, TOKEN_USER);
  const publicRepos = new Set<string>();

  const server = await startLoopback({
    route: (request) => {
      const rest = gitPath(request)?.rest ?? '';
      return /^(info\/refs|git-upload-pack|git-receive-pack)$/.test(rest) ? rest : 'other';
    },
    answer(request, response) {
      const path = gitPath(request);
      if (path === null) return refuse(response, 404, 'Not found');
      const login = loginOf(request);
      const user = tokens.get(login?.password ?? '');
      const authorized = user === null || (user !== undefined && user === login?.user);
      if (
        !authorized &&
        (request.headers.authorization !== undefined || !publicRepos.has(path.repo))
      ) {
        request.resume();
        return refuse(response, 401, 'Invalid username or token.');
      }
      // A code host says the same of what is not there and of what may not be seen.
      if (!existsSync(repos.path(path.repo))) return refuse(response, 404, 'Repository not found.');
      serve(request, response, { root, path, old: options.old === true });
    },
  });

  return {
    ...server,
    ...repos,
    async createRepo(name, { public: isPublic = false } = {}) {
      if (isPublic) publicRepos.add(name);
      await repos.createRepo(name, { old: options.old === true });
    },
    allow: (token, user = TOKEN_USER) => void tokens.set(token, user),
    revoke: (token) => void tokens.delete(token),
  };
}
