/** A mail server that is not ours, with a login. */
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { atExit } from './cleanup.ts';

/** A mail as the server took it. */
export interface Mail {
  /** Of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as they came. */
  readonly raw: string;
  /** The same as fields. */
  readonly payload: { readonly subject: string; readonly text: string };
  /** The connection was encrypted when the mail came. */
  readonly secure: boolean;
  readonly user: string;
}

/** What the server answers at one point of the next conversations. */
export interface MailFault {
  readonly at: 'connect' | 'login' | 'recipient' | 'data';
  /** The code of the answer; 0: none, the connection hangs. */
  readonly code: number;
  readonly words?: string;
}

export interface MailServer {
  readonly port: number;
  /** With the user and the password. */
  readonly address: string;
  readonly password: string;
  readonly messages: Mail[];
  /** One per connection. */
  readonly requests: { readonly at: number }[];
  fail(fault: MailFault, times?: number): void;
  heal(): void;
  close(): Promise<void>;
}

const USER = 'runner@example.org';
const PASSWORD = 'p@ss/word:9Kq2';

/** RFC 2047 words, as they are read. */
function headerText(raw: string): string {
  const joined = raw.replace(/\r\n[ \t]/g, ' ').replace(/\?=\s+=\?/g, '?==?');
  return joined.replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) =>
    kind.toLowerCase() === 'b'
      ? `\0${text}\0`
      : quoted(text.replaceAll('_', ' ')).toString('latin1'),
  );
}

function quoted(text: string): Buffer {
  const plain = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}

/** Subject and text of a mail of one part. */
function readMail(raw: string): Mail['payload'] {
  const at = raw.indexOf('\r\n\r\n');
  const [head, body] = [raw.slice(0, at), raw.slice(at + 4)];
  const value = (name: string) =>
    new RegExp(`^${name}: ((?:.|\r\n[ \t])*)$`, 'im').exec(head)?.[1] ?? '';
  const parts = headerText(value('Subject')).replace(/(?:\0[^\0]*\0)+/g, (all) =>
    Buffer.concat(all.split('\0').map((each) => Buffer.from(each, 'base64'))).toString('latin1'),
  );
  const encoding = value('Content-Transfer-Encoding').trim().toLowerCase();
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? quoted(body.replace(/=\r\n/g, ''))
        : Buffer.from(body, 'latin1');
  const text = bytes.toString('utf8').replace(/\r\n/g, '\n');
  return { subject: Buffer.from(parts, 'latin1').toString('utf8'), text };
}

/** `tls`: from the start, else by STARTTLS; `options` go to the server as they are. */
export async function startMailServer({
  tls = false,
  ...options
}: { tls?: boolean } & SMTPServerOptions = {}): Promise<MailServer> {
  const messages: Mail[] = [];
  const requests: { at: number }[] = [];
  let faults: MailFault[] = [];
  const faultAt = (at: MailFault['at']) => (faults[0]?.at === at ? faults.shift() : undefined);
  const refuse = (
    at: MailFault['at'],
    callback: (error?: Error | null) => void,
    otherwise: () => void,
  ) => {
    const fault = faultAt(at);
    if (!fault) return otherwise();
    if (fault.code === 0) return;
    callback(Object.assign(new Error(fault.words ?? 'refused'), { responseCode: fault.code }));
  };
  const server = new SMTPServer({
    secure: tls,
    logger: false,
    disableReverseLookup: true,
    authMethods: ['PLAIN', 'LOGIN'],
    onConnect(_, callback) {
      requests.push({ at: performance.now() });
      refuse('connect', callback, () => callback());
    },
    onAuth({ username, password }, _, callback) {
      refuse('login', callback as (error?: Error | null) => void, () => {
        if (username === USER && password === PASSWORD) callback(null, { user: username });
        else
          callback(
            Object.assign(new Error(`authentication of ${password} failed`), { responseCode: 535 }),
          );
      });
    },
    onRcptTo(_, __, callback) {
      refuse('recipient', callback, () => callback());
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        refuse('data', callback, () => {
          const raw = Buffer.concat(chunks).toString('latin1');
          const { mailFrom, rcptTo } = session.envelope;
          messages.push({
            from: mailFrom ? mailFrom.address : '',
            to: rcptTo.map(({ address }) => address),
            raw,
            payload: readMail(raw),
            secure: session.secure,
            user: String(session.user ?? ''),
          });
          callback();
        });
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.server.unref();
  const stop = () => server.close();
  const forget = atExit(stop);
  const { port } = server.server.address() as AddressInfo;
  const login = `${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}`;
  return {
    port,
    address: `${tls ? 'smtps' : 'smtp'}://${login}@127.0.0.1:${port}`,
    password: PASSWORD,
    messages,
    requests,
    fail: (fault, times = 1) => faults.push(...Array<MailFault>(Math.min(times, 99)).fill(fault)),
    heal: () => {
      faults = [];
    },
    close: () =>
      new Promise((resolve) => {
        forget();
        server.close(() => resolve());
      }),
  };
}
