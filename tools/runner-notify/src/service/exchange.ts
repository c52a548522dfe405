/** One request to a chat service, and its result in the classes of the contract. */
import { Failure } from '@runner/common/foundation/failure';
import { type HttpAnswer, send } from '@runner/common/http/request';
import { jsonObject } from '@runner/common/text/json';
import { cleanText, cutCodePoints } from '@runner/common/text/plain';
import type { Complaint, RequestLine, SendOutcome, ServiceProblem } from './contract.ts';
import type { Fields } from './fields.ts';

/** Deadline of a whole exchange, in milliseconds: a deploy waits no longer for its chats. */
export const EXCHANGE_TIMEOUT = 15_000;
/** An exchange gets this long even where less time is left to wait: enough for a slow service. */
export const EXCHANGE_MIN = 5_000;
/** Largest answer that is read, in bytes: both services answer with a few kilobytes. */
export const ANSWER_MAX = 65_536;

/** Longest description of a problem, in code points: a sentence, not a page. */
const DESCRIPTION_MAX = 300;

const NETWORK_HINT = "check the server's network, and the proxy if there is one";
const ADDRESS_HINT = `${NETWORK_HINT}, and the address`;
/** Following one would give the secret in the address to another host. */
export const REDIRECT_HINT = 'redirects are not followed: check the address';

/** One call on a line; `method` names it in problems, because the address would hold a secret. */
export type Call = RequestLine & { readonly method: string };

/** What is sent to an address. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Sent as JSON. */
  readonly body?: Fields;
  /** More headers; `body` is the text that is sent. */
  headers?(body: string): Readonly<Record<string, string>>;
  /** For the whole exchange, in milliseconds. */
  readonly timeout?: number | undefined;
  /** Largest answer, in bytes. */
  readonly limit?: number;
  /** A larger answer is cut there, instead of refused. */
  readonly cutsBody?: boolean;
  readonly signal?: AbortSignal;
}

/** What the service answered, or why it did not. */
export type Reply<T> = { readonly value: T } | { readonly problem: ServiceProblem };

/** Makes one exchange: a network or proxy error becomes an outcome, `judge` decides the rest. */
export async function exchange(
  call: Call,
  url: string,
  {
    method,
    body,
    headers,
    timeout = EXCHANGE_TIMEOUT,
    limit = ANSWER_MAX,
    signal,
    ...more
  }: Request,
  judge: (call: Call, answer: HttpAnswer) => SendOutcome,
): Promise<SendOutcome> {
  const text = body && JSON.stringify(body);
  const signals = [call.signal, signal].filter((each) => each !== undefined);
  try {
    const answer = await send({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers?.(text ?? ''),
      },
      ...(text !== undefined && { body: text }),
      timeout,
      limit,
      ...more,
      env: call.env,
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    });
    const outcome = judge(call, answer);
    // RFC 9110 10.2.3: a busy server says when to come back, e.g. with a 503.
    if (outcome.class === 'retry' && answer.headers['retry-after'] !== undefined)
      return { class: 'wait', delay: delayOf(answer), problem: outcome.problem };
    if (outcome.class !== 'delivered') return outcome;
    return {
      ...outcome,
      accepted: { httpStatus: answer.status, body: jsonObject(answer.body) ?? {} },
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return unreached(call, error);
  }
}

/** Makes one exchange for the sake of the body of its answer. */
export async function ask(...given: Parameters<typeof exchange>): Promise<Reply<Fields>> {
  const outcome = await exchange(...given);
  if (outcome.class !== 'delivered') return { problem: outcome.problem };
  return { value: outcome.accepted?.body ?? {} };
}

/** Words a problem; the service's description becomes plain text without secrets. */
export function problemOf(call: Call, problem: Omit<ServiceProblem, 'method'>): ServiceProblem {
  const plain = call.redact(cleanText(problem.description)).replace(/\s+/g, ' ').trim();
  const description = cutCodePoints(plain, DESCRIPTION_MAX) || `HTTP ${problem.http_status}`;
  return { method: call.method, ...problem, description };
}

/** A refusal in the service's own words. */
export interface ServiceRefusal {
  /** An HTTP status, wherever the service puts it. */
  readonly status: number;
  /** The service's own code; by default the status. */
  readonly code?: number;
  readonly description: string;
  /** Seconds, if the service asks for a pause. */
  readonly pause?: unknown;
  readonly hint: string | undefined;
  /** Why another form of the message may be accepted; of status 413 its length. */
  readonly complaint?: Complaint | undefined;
  /** The destination's new id. */
  readonly movedTo?: string | undefined;
  /** The message to edit is not there any more. */
  readonly missing?: boolean;
}

/** Sorts a refusal into the classes of the contract. */
export function refusedAnswer(
  call: Call,
  answer: HttpAnswer,
  { status, code = status, description, pause, hint, complaint, movedTo, missing }: ServiceRefusal,
): SendOutcome {
  const problem = (retryable: boolean) =>
    problemOf(call, { http_status: answer.status, code, description, retryable, hint });
  if (status === 429)
    return { class: 'wait', delay: delayOf(answer, pause), problem: problem(true) };
  if (status >= 500 || status === 408) return { class: 'retry', problem: problem(true) };
  if (missing) return { class: 'rejected', problem: problem(false), missing };
  if (status === 401 || status === 404) return { class: 'gone', problem: problem(false) };
  const why = status === 413 ? 'length' : complaint;
  return { class: 'rejected', problem: problem(false), complaint: why, movedTo };
}

/** An answer that the service did not write: a proxy's page, a captive portal, a wrong address. */
export function foreignAnswer(call: Call, answer: HttpAnswer): SendOutcome {
  const { status } = answer;
  const isRedirect = status >= 300 && status < 400;
  const isOfNetwork = status < 300 || status >= 500 || status === 408 || status === 413;
  // A page, a captive portal, a temporary ban of the server's address, a proxy that wants other credentials.
  const passes = status < 400 || status === 403 || status === 407;
  return refusedAnswer(call, answer, {
    status: passes ? 503 : status,
    code: status,
    description: `the answer has HTTP status ${status} and is not JSON`,
    hint:
      status === 429
        ? 'the service asks to wait'
        : isRedirect
          ? REDIRECT_HINT
          : isOfNetwork
            ? NETWORK_HINT
            : ADDRESS_HINT,
  });
}

/** The outcome of an exchange that did not happen, in the words of its failure. */
export function unreached(call: Call, { facts, code, message }: Failure): SendOutcome {
  const problem = { http_status: null, code: String(facts.reason ?? code), description: message };
  return {
    class: 'retry',
    problem: problemOf(call, { ...problem, retryable: true, hint: NETWORK_HINT }),
  };
}

/** Longest delay that a service may ask for, in milliseconds: a day. */
const DELAY_MAX = 86_400_000;
/** For a service that asks for a pause without naming its length. */
const DELAY_UNKNOWN = 1_000;

/** Milliseconds to wait: the first of the given seconds that is a number, else `Retry-After`. */
export function delayOf(answer: HttpAnswer, ...seconds: readonly unknown[]): number {
  const after = answer.headers['retry-after'];
  for (const value of [...seconds, after, answer.headers['x-ratelimit-reset-after']]) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && number >= 0)
      return Math.min(Math.ceil(number * 1000), DELAY_MAX);
  }
  const time = Date.parse(String(after)) - Date.now();
  if (time > 0) return Math.min(time, DELAY_MAX);
  return DELAY_UNKNOWN;
}
