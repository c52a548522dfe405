/** One conversation with a mail server; its errors in the classes of the contract. */
import { isLoopback } from '@runner/common/http/address';
import { NETWORK_WORDS } from '@runner/common/http/request';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type { SendOutcome } from '../../service/contract.ts';
import { type Call, EXCHANGE_TIMEOUT, problemOf } from '../../service/exchange.ts';

/**
 * How long a server may take to accept a mail that it has, in milliseconds: it may look for viruses first. RFC 5321
 * 4.5.3.2.6: a sender that does not wait gets the mail delivered twice.
 */
const ACCEPT_TIMEOUT = 120_000;

/** Connects for one conversation. TLS is required, but not within this machine. */
async function open(address: string, timeout: number): Promise<Transporter> {
  const url = new URL(address);
  const secure = url.protocol === 'smtps:';
  const local = isLoopback(url.hostname);
  const user = decodeURIComponent(url.username);
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTLS: !secure && !local,
    // A mail server of this machine has a certificate for another name, if any.
    tls: { rejectUnauthorized: secure || !local },
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(url.password) } }),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: ACCEPT_TIMEOUT,
    dnsTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** What nodemailer throws. */
interface SmtpError extends Error {
  readonly code?: string;
  /** The error below `code`. */
  readonly originalCode?: string;
  readonly response?: string;
  readonly responseCode?: number;
  /** The recipient that was refused. */
  readonly recipient?: string;
  /** One for each recipient that was refused. */
  readonly rejectedErrors?: readonly SmtpError[];
}

const LOGIN = 'check the user and the password in notify.email.smtp';
const NETWORK = "check the server's network, and the address of the mail server";
const RECIPIENTS = 'check the sender and the recipients';
const TLS =
  'check the certificate of the mail server; smtps:// needs TLS from the start, smtp:// STARTTLS; a private authority needs NODE_EXTRA_CA_CERTS';
/** RFC 4954: it wants a login. */
const AUTH_REQUIRED = 530;

const isTemporary = (status: number | undefined) =>
  status !== undefined && status >= 400 && status < 500;

/** Some or all recipients were refused. They are all tried again while one of them may succeed. */
function refusal(call: Call, refused: readonly SmtpError[]): SendOutcome {
  const first = refused.find(({ responseCode }) => isTemporary(responseCode)) ?? refused[0];
  const { responseCode: code = 'EENVELOPE', response, message = '' } = first ?? {};
  const left = refused.flatMap(({ recipient }) => recipient ?? []);
  const retryable = refused.some(({ responseCode }) => isTemporary(responseCode));
  const description = `${left.join(', ')}: ${response ?? message}`;
  const hint = retryable ? undefined : RECIPIENTS;
  const problem = problemOf(call, { http_status: null, code, description, retryable, hint });
  return { class: retryable ? 'retry' : 'rejected', left, problem };
}

/** RFC 5321 4.2.1: 4xx may succeed later, 5xx never does. */
function outcomeOf(call: Call, error: SmtpError): SendOutcome {
  const { code = 'unknown', originalCode, response, responseCode: status, message } = error;
  const { rejectedErrors } = error;
  if (rejectedErrors !== undefined && rejectedErrors.length > 0)
    return refusal(call, rejectedErrors);
  const plain = originalCode ?? /\b(E[A-Z_]{4,})\b/.exec(message)?.[1];
  const said = { http_status: null, code: status ?? plain ?? code };
  const description = response ?? NETWORK_WORDS[plain ?? ''] ?? message;
  const problem = (retryable: boolean, hint: string | undefined) =>
    problemOf(call, { ...said, description, retryable, hint });
  const isLater = isTemporary(status);
  if ((code === 'EAUTH' || status === AUTH_REQUIRED) && !isLater)
    return { class: 'gone', problem: problem(false, LOGIN) };
  if (status === undefined || isLater) {
    const isOfTls = code === 'ETLS' || /^(?:ERR_|CERT_|DEPTH_|SELF_|UNABLE_)/.test(plain ?? '');
    return { class: 'retry', problem: problem(true, isOfTls ? TLS : NETWORK) };
  }
  const complaint = status === 552 || status === 523 ? 'length' : undefined;
  const hint = code === 'EENVELOPE' ? RECIPIENTS : undefined;
  return { class: 'rejected', complaint, problem: problem(false, hint) };
}

/** Sends one mail, or with none only logs in. */
export async function converse(
  call: Call,
  address: string,
  mail: SendMailOptions | undefined,
  timeout = EXCHANGE_TIMEOUT,
): Promise<SendOutcome> {
  const transport = await open(address, timeout);
  const { signal } = call;
  /** Ends the connection: what was given up must not be sent after all. */
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_, reject) => {
    const stop = (code: string) => {
      reject(Object.assign(new Error(`no answer in time, ${code}`), { code }));
      end.abort();
    };
    const wait = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(stop, milliseconds, 'ETIMEDOUT');
    };
    wait(timeout);
    if (signal?.aborted) stop('ABORT_ERR');
    else signal?.addEventListener('abort', () => stop('ABORT_ERR'), { once: true });
    transport.use('stream', ({ message }, done) => {
      message.processFunc((text) => text.once('end', () => wait(ACCEPT_TIMEOUT)));
      done();
    });
  });
  try {
    const work = mail ? transport.sendMail({ ...mail, signal: end.signal }) : transport.verify();
    const answer = (await Promise.race([work, ended])) as true | Pick<SmtpError, 'rejectedErrors'>;
    const refused = answer === true ? [] : (answer.rejectedErrors ?? []);
    if (refused.length > 0) return refusal(call, refused);
    return { class: 'delivered', rest: 0, accepted: { httpStatus: null, body: {} } };
  } catch (error) {
    return outcomeOf(call, error as SmtpError);
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}
