/** One conversation with a mail server; its errors in the classes of the contract. */
import { isLoopback } from '@runner/common/http/address';
import type { SendMailOptions, Transporter } from 'nodemailer';
import type { SendOutcome } from '../../service/contract.ts';
import { type Call, EXCHANGE_TIMEOUT, problemOf } from '../../service/exchange.ts';

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
    socketTimeout: timeout,
    dnsTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** What nodemailer throws. */
interface SmtpError extends Error {
  readonly code?: string;
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
const TLS = 'check the certificate of the mail server; smtp:// needs STARTTLS';

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
  const { code = 'unknown', response, responseCode: status, message, rejectedErrors } = error;
  if (rejectedErrors !== undefined && rejectedErrors.length > 0)
    return refusal(call, rejectedErrors);
  const plain = /\b(E[A-Z_]{4,})\b/.exec(message)?.[1];
  const said = { http_status: null, code: status ?? plain ?? code };
  const problem = (retryable: boolean, hint: string | undefined) =>
    problemOf(call, { ...said, description: response ?? message, retryable, hint });
  const isLater = isTemporary(status);
  if (code === 'EAUTH' && !isLater) return { class: 'gone', problem: problem(false, LOGIN) };
  if (status === undefined || isLater)
    return { class: 'retry', problem: problem(true, code === 'ETLS' ? TLS : NETWORK) };
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
  const deadline = AbortSignal.timeout(timeout);
  const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline;
  const ended = new Promise<never>((_, reject) => {
    const code = () => (deadline.aborted ? 'ETIMEDOUT' : 'ABORT_ERR');
    const stop = () =>
      reject(Object.assign(new Error(`no answer in time, ${code()}`), { code: code() }));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    const work = mail ? transport.sendMail(mail) : transport.verify();
    const answer = (await Promise.race([work, ended])) as true | Pick<SmtpError, 'rejectedErrors'>;
    const refused = answer === true ? [] : (answer.rejectedErrors ?? []);
    if (refused.length > 0) return refusal(call, refused);
    return { class: 'delivered', rest: 0, accepted: { httpStatus: null, body: {} } };
  } catch (error) {
    return outcomeOf(call, error as SmtpError);
  } finally {
    transport.close();
  }
}
