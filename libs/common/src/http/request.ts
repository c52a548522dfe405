/**
 * One HTTP request with one deadline, a limit on the body and no redirects. Errors never contain the
 * address, a header or the body. Not fetch: its errors quote the token.
 */
import type { Dispatcher } from 'undici';
import { Failure, systemCode } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import { ADD_AUTHORITY, isUnknownAuthority, systemAuthorities } from './certificates.ts';

/** A request, with the bounds of the whole exchange. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange, in ms. */
  readonly timeout: number;
  /** Largest answer body, in bytes. */
  readonly limit: number;
  /** A larger body is cut there, instead of refused. */
  readonly cutsBody?: boolean;
  readonly env: Env;
  /** Aborts the exchange. */
  readonly signal?: AbortSignal;
}

/** An answer of any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Codes in words; other codes are shown unchanged. */
export const NETWORK_WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  EAI_AGAIN: 'its name cannot be resolved right now',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was dropped',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'its name cannot be resolved',
  EPROTO: 'it does not speak TLS',
  ERR_INVALID_URL: 'the address or that of the proxy is not valid',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain is self-signed',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate cannot be verified',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UND_ERR_ABORTED: 'the proxy refused to connect',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'it sent too many headers',
  UND_ERR_INVALID_ARG: 'the address, that of the proxy or a header is not valid',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter than announced',
  UND_ERR_SOCKET: 'the connection was dropped',
};

/** The code of every answer that is not HTTP, instead of the parser's many. */
const NOT_HTTP = 'NOT_HTTP';

/** Sends one request. Throws `network_error`; an answer of any status is returned. */
export async function send(request: HttpRequest): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(request.timeout);
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
  try {
    return await attempt(request, signal).catch((error) => {
      // Nothing was sent: the server is verified first.
      const ca = isUnknownAuthority(causeOf(error).code) && systemAuthorities(request.env);
      if (!ca) throw error;
      return attempt(request, signal, ca);
    });
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (deadline.aborted)
      throw networkError('timeout', `no complete answer within ${request.timeout / 1000} s`);
    if (request.signal?.aborted) throw networkError('ABORT_ERR', 'it was interrupted');
    throw worded(error);
  }
}

/** One exchange; `ca` replaces the certificate authorities of Node. */
async function attempt(
  request: HttpRequest,
  signal: AbortSignal,
  ca?: string,
): Promise<HttpAnswer> {
  const lost = new AbortController();
  const dispatcher = await dispatcherFor(request, lost, ca);
  try {
    const answer = exchange(request, dispatcher, signal);
    return await Promise.race([answer, ended(signal), ended(lost.signal)]);
  } finally {
    await dispatcher.destroy().catch(() => {});
  }
}

async function exchange(
  request: HttpRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const undici = await import('undici');
  const answer = await undici.request(request.url, {
    method: request.method,
    headers: { 'user-agent': 'runner', ...request.headers },
    body: request.body ?? null,
    signal,
    dispatcher,
  });
  return {
    status: answer.statusCode,
    headers: Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    body: await bodyOf(answer.body, request),
  };
}

/** Rejects at the signal, which undici ignores until it is connected. */
function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/**
 * A connection for one exchange, through the proxy that the environment names. A failed connection
 * aborts `lost`: otherwise undici would retry without a pause when a proxy drops it.
 */
async function dispatcherFor(
  { url, env, timeout }: HttpRequest,
  lost: AbortController,
  ca: string | undefined,
): Promise<Dispatcher> {
  const undici = await import('undici');
  const factory = (origin: string | URL, options: object) =>
    new undici.Client(origin, options).on('connectionError', (_origin, _targets, error) =>
      lost.abort(error),
    );
  const tls = ca === undefined ? {} : { ca };
  const common = { connect: { timeout, ...tls }, pipelining: 0 };
  const httpProxy = env.http_proxy || env.HTTP_PROXY || '';
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY || '';
  if (!httpProxy && !httpsProxy) return factory(new URL(url).origin, common);
  const noProxy = env.no_proxy || env.NO_PROXY || '';
  const proxies = { httpProxy, httpsProxy, noProxy, requestTls: tls, proxyTls: tls };
  return new undici.EnvHttpProxyAgent({ ...common, factory, ...proxies });
}

async function bodyOf(
  body: AsyncIterable<Uint8Array>,
  { limit, cutsBody }: HttpRequest,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit && cutsBody) break;
    if (size > limit)
      throw new Failure('network_error', `the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function networkError(reason: string, message: string): Failure {
  return new Failure('network_error', message, { reason });
}

/** The error below those that only pass it on, and its code. */
function causeOf(error: unknown): {
  inner: Error & { syscall?: unknown };
  code: string | undefined;
} {
  const cause = (error as { cause?: unknown }).cause;
  const inner = firstOf(systemCode(error) ? error : (cause ?? error)) as Error;
  return { inner, code: systemCode(inner) };
}

function worded(error: unknown): Failure {
  const { inner, code: known } = causeOf(error);
  const code = known ?? (inner.name === 'HTTPParserError' ? NOT_HTTP : 'unknown error');
  // Node's own message names only the address: `connect ECONNREFUSED 127.0.0.1:9`.
  const plain = typeof inner.syscall === 'string' ? inner.message : code;
  if (code === NOT_HTTP || code.startsWith('HPE'))
    return networkError(NOT_HTTP, 'it does not speak HTTP (does the port expect https?)');
  const words = NETWORK_WORDS[code];
  const remedy = isUnknownAuthority(code) ? `: ${ADD_AUTHORITY}` : '';
  return networkError(code, (words ? `${words} (${plain})` : plain) + remedy);
}

/** The first error, if several addresses were tried. */
function firstOf(error: unknown): unknown {
  const errors = (error as { errors?: unknown }).errors;
  return Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
}
