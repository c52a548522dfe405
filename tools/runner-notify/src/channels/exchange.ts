/** One exchange with a chat service, told in the classes of channel.ts. */
import { Failure } from '@runner/common/foundation/failure';
import type { Env } from '@runner/common/foundation/io';
import { type HttpAnswer, send } from '@runner/common/http/request';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import { ANSWER_MAX, EXCHANGE_TIMEOUT, type Outcome, type Problem } from './channel.ts';

/** Longest description of a problem, in code points: a sentence, not a page. */
const DESCRIPTION_MAX = 300;

const NETWORK_HINT = "check the server's network, and the proxy if there is one";

const ADDRESS_HINT = `${NETWORK_HINT}, and the address`;

/** What an exchange needs beside the message. */
export interface Line {
  /** Name of what is called, for problems: the address would hold a secret. */
  readonly method: string;
  readonly env: Env;
  redact(text: string): string;
}

/** What is sent to an address. */
export interface Request {
  readonly method: 'GET' | 'POST';
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** For the whole exchange, in milliseconds; EXCHANGE_TIMEOUT unless told. */
  readonly timeout?: number;
  /** Largest answer, in bytes; ANSWER_MAX unless told. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Posts JSON; what the network or a proxy does wrong becomes an outcome, the rest `judge` decides. */
export function post(
  line: Line,
  url: string,
  body: Readonly<Record<string, unknown>>,
  judge: (answer: HttpAnswer) => Outcome,
  timeout?: number,
): Promise<Outcome> {
  const within = timeout === undefined ? {} : { timeout };
  return exchange(line, url, { method: 'POST', body, ...within }, judge);
}

/** Like `post`, for any request. */
export async function exchange(
  line: Line,
  url: string,
  { method, body, timeout, limit, signal }: Request,
  judge: (answer: HttpAnswer) => Outcome,
): Promise<Outcome> {
  try {
    const answer = await send({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      timeout: timeout ?? EXCHANGE_TIMEOUT,
      limit: limit ?? ANSWER_MAX,
      env: line.env,
      ...(signal && { signal }),
    });
    return judge(answer);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const code = String(error.facts.reason ?? error.code);
    return {
      class: 'retry',
      problem: problemOf(line, null, code, error.message, true, NETWORK_HINT),
    };
  }
}

/** Words a problem; the description is the service's, made plain and freed of secrets. */
export function problemOf(
  line: Line,
  status: number | null,
  code: number | string,
  description: string,
  retryable: boolean,
  hint?: string,
): Problem {
  const plain = line.redact(cleanText(description)).replace(/\s+/g, ' ').trim();
  return {
    method: line.method,
    http_status: status,
    code,
    description: cutCodePoints(plain, DESCRIPTION_MAX) || `HTTP ${status}`,
    retryable,
    hint,
  };
}

/** An answer that the service itself did not write: a proxy's page, a captive portal, a wrong address. */
export function foreignAnswer(line: Line, answer: HttpAnswer, delay: number): Outcome {
  const { status } = answer;
  const words = `the answer has HTTP status ${status} and is not JSON`;
  const problem = (retryable: boolean, hint: string) =>
    problemOf(line, status, status, words, retryable, hint);
  if (status === 429)
    return { class: 'wait', delay, problem: problem(true, 'the address is asked to wait') };
  if (status === 413)
    return { class: 'rejected', complaint: 'length', problem: problem(false, NETWORK_HINT) };
  if (status >= 500 || status === 408 || status < 300) {
    return { class: 'retry', problem: problem(true, NETWORK_HINT) };
  }
  // A ban of the server's address for a while, or a proxy that wants other credentials.
  if (status === 403 || status === 407)
    return { class: 'retry', problem: problem(true, ADDRESS_HINT) };
  const hint = status < 400 ? 'redirects are not followed: check the address' : ADDRESS_HINT;
  const gone = status === 401 || status === 404;
  return { class: gone ? 'gone' : 'rejected', problem: problem(false, hint) };
}
