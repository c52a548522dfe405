/**
 * One HTTP request: one deadline for all of it, a bound on the body, no redirects, and errors that
 * never hold the address, a header or the body that was sent. undici.request, not fetch: the
 * errors of fetch quote the token.
 */
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import { Failure, systemCode } from './failure.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For the whole exchange, in milliseconds. */
  readonly timeout: number;
  /** Largest answer body, in bytes. */
  readonly limit: number;
  readonly env: Env;
  /** Ends the exchange early, e.g. when the command is interrupted. */
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a code means, for people; anything else is shown as its code alone. */
const WORDS: Readonly<Record<string, string>> = {
  ABORT_ERR: 'it was interrupted',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  EAI_AGAIN: 'its name cannot be resolved right now',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was dropped',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'the network is unreachable',
  ERR_INVALID_URL: 'the address of the proxy is not valid',
  ENOTFOUND: 'its name cannot be resolved',
  EPROTO: 'it does not speak TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
  UND_ERR_HEADERS_OVERFLOW: 'it sent too many headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter than announced',
  UND_ERR_SOCKET: 'the connection was dropped',
};

/** Sends one request. Throws `network_error`; an answer of any status is returned. */
export async function send(request: HttpRequest): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(request.timeout);
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
  let dispatcher: Dispatcher | undefined;
  try {
    dispatcher = await dispatcherFor(request);
    const { request: exchange } = await import('undici');
    const answer = await exchange(request.url, {
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
      body: await bodyOf(answer.body, request.limit),
    };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw networkError(error, deadline.aborted, request.timeout);
  } finally {
    await dispatcher?.destroy().catch(() => {});
  }
}

/** A connection pool for one exchange; through a proxy when the environment names one. */
async function dispatcherFor(request: HttpRequest): Promise<Dispatcher> {
  // Compiling undici's WASM parser with the baseline compiler halves the time of one request.
  setFlagsFromString('--liftoff-only');
  const { Agent, EnvHttpProxyAgent } = await import('undici');
  const { env } = request;
  const common = { connect: { timeout: request.timeout }, pipelining: 0 };
  const httpProxy = env.http_proxy || env.HTTP_PROXY;
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY;
  if (!httpProxy && !httpsProxy) return new Agent(common);
  return new EnvHttpProxyAgent({
    ...common,
    ...(httpProxy && { httpProxy }),
    ...(httpsProxy && { httpsProxy }),
    noProxy: env.no_proxy || env.NO_PROXY || '',
  });
}

async function bodyOf(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit)
      throw new Failure('network_error', `the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function networkError(error: unknown, late: boolean, timeout: number): Failure {
  if (late) {
    return new Failure('network_error', `no complete answer within ${timeout / 1000} s`, {
      reason: 'timeout',
    });
  }
  const cause = (error as { cause?: unknown }).cause;
  const inner = firstOf(systemCode(error) ? error : (cause ?? error));
  const code = systemCode(inner) ?? 'unknown error';
  // Node words these itself, from the address alone: `connect ECONNREFUSED 127.0.0.1:9`.
  const plain =
    typeof (inner as { syscall?: unknown }).syscall === 'string' ? (inner as Error).message : code;
  const words = WORDS[code] ?? (code.startsWith('HPE_') ? 'it does not speak HTTP' : undefined);
  return new Failure('network_error', words ? `${words} (${plain})` : plain, { reason: code });
}

/** Several addresses were tried: the first error stands for all. */
function firstOf(error: unknown): unknown {
  const errors = (error as { errors?: unknown }).errors;
  return Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
}
