/** Requests to the API of a code host, and what a refusal means. */
import type { CodeHost, HostType } from '../config/code-hosts.ts';
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import { type HttpAnswer, type HttpRequest, send } from '../http/request.ts';
import { redactor } from '../secrets/redactor.ts';
import type { Secret } from '../secrets/secret.ts';
import { type JsonObject, jsonObject } from '../text/json.ts';
import { formsOf } from './login.ts';

/** Limits of a request, in milliseconds, and of its body, in bytes. */
const TIMEOUT = 10_000;
const BODY_MAX = 1_048_576;
/** Redirects to follow, on the same origin only. */
const REDIRECTS = 3;
/** Longest text of the host that is shown. */
const TEXT_MAX = 200;

/** The API of one code host, with one token. */
export interface HostApi {
  readonly type: HostType;
  /** `path` begins with a slash; a whole address of the same origin is taken too. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  post(path: string, body: object): Promise<HttpAnswer>;
  /** Changes what is there: Gitea and GitHub want PATCH, the others PUT. */
  change(path: string, body: object): Promise<HttpAnswer>;
  /** What the host says, redacted and short; empty if it says nothing. */
  said(answer: HttpAnswer): string;
  /** The host may repeat the token in its answer. */
  redact(text: string): string;
}

/** With what an API is asked. */
export interface ApiAccess {
  readonly token: Secret;
  /** The header `Authorization`. */
  readonly authorization: string;
  readonly env: Env;
  /** Largest answer, in bytes [default: 1 MiB]. */
  readonly limit?: number;
}

/** Opens the API of a host that has one. */
export function hostApi(
  { type, apiUrl = '' }: Pick<CodeHost, 'type' | 'apiUrl'>,
  { token, authorization, env, limit = BODY_MAX }: ApiAccess,
): HostApi {
  const redact = redactor(formsOf(token));
  const accept = type === 'github' ? 'application/vnd.github+json' : 'application/json';
  const headers = { authorization, accept };
  const limits = { timeout: TIMEOUT, limit, env };
  const addressOf = (path: string) => (path.startsWith('/') ? `${apiUrl}${path}` : path);
  const ask = async (
    path: string,
    about: Pick<HttpRequest, 'method' | 'body'>,
    more: Readonly<Record<string, string>>,
  ) => {
    const moved = about.method === 'GET' ? [301, 302, 307, 308] : [307, 308];
    let url = addressOf(path);
    for (let hop = 0; ; hop += 1) {
      refuseOtherOrigin(url, apiUrl);
      const answer = await send({ ...about, url, headers: { ...headers, ...more }, ...limits });
      const { location } = answer.headers;
      if (!moved.includes(answer.status) || location === undefined) return answer;
      if (hop === REDIRECTS)
        throw new Failure('code_host_error', 'the code host redirects too many times');
      url = URL.canParse(location, url) ? new URL(location, url).href : '';
    }
  };
  const write = (method: 'POST' | 'PATCH' | 'PUT', path: string, body: object) =>
    ask(path, { method, body: JSON.stringify(body) }, { 'content-type': 'application/json' });
  return {
    type,
    redact,
    get: (path, more = {}) => ask(path, { method: 'GET' }, more),
    post: (path, body) => write('POST', path, body),
    change: (path, body) =>
      write(type === 'github' || type === 'gitea' ? 'PATCH' : 'PUT', path, body),
    said: (answer) => redact(messageIn(jsonObject(answer.body) ?? {})).slice(0, TEXT_MAX),
  };
}

/** The token never leaves its origin. */
function refuseOtherOrigin(url: string, apiUrl: string): void {
  if (URL.canParse(url) && new URL(url).origin === new URL(apiUrl).origin) return;
  throw new Failure(
    'code_host_error',
    'the code host redirects to another origin: the token was not sent there',
  );
}

/** The sentence of a refusal, in the form of any of the hosts. */
function messageIn({ message, error, error_description: description }: JsonObject): string {
  const inner = error && typeof error === 'object' ? (error as JsonObject).message : undefined;
  const texts = [message, description, inner, error];
  return texts.find((text): text is string => typeof text === 'string') ?? '';
}

/** Whether a host refuses the token, or what it may do; not a limit of the rate. */
export function isDenied({ status }: HttpAnswer): boolean {
  return status === 401 || status === 403;
}

/** Throws `rate_limited`, or `code_host_error` for anything but success, 401 and 403. */
export function refuseOthers(api: HostApi, answer: HttpAnswer): void {
  const { status, headers } = answer;
  const said = api.said(answer);
  if (isRateLimit(answer, said)) {
    throw new Failure(
      'rate_limited',
      `the code host limits the request rate (${status})${untilOf(headers)}`,
    );
  }
  if (isDenied(answer) || (status >= 200 && status < 300)) return;
  throw new Failure(
    'code_host_error',
    `the code host answered ${status}${said ? `: ${said}` : ''}`,
    { http_status: status },
  );
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

/** When to try again, if the host says so. */
function untilOf(headers: HttpAnswer['headers']): string {
  const after = headers['retry-after'] ?? '';
  if (/^\d{1,6}$/.test(after)) return `, try again in ${after} s`;
  const reset = headers['x-ratelimit-reset'] ?? '';
  if (headers['x-ratelimit-remaining'] !== '0' || !/^\d{1,11}$/.test(reset)) return '';
  return `, try again after ${new Date(Number(reset) * 1000).toISOString()}`;
}
