/** What a channel is tested with: the shape of an entry in subjects.ts, and what entries share. */
import type { Fault } from '@runner/testing/faults';
import type { MailFault } from '@runner/testing/mail-server';
import type { Credentials } from '../src/service/contract.ts';
import type { Chats } from './chats.ts';

/** The stand-in of a channel. */
export interface Server {
  readonly url: string;
  readonly messages: { payload: unknown }[];
  readonly requests: unknown[];
  fail(fault: Fault | MailFault, times?: number): void;
  heal(): void;
}

type FaultTable = Readonly<Record<string, readonly [fault: Fault | MailFault, outcome: string]>>;

/** What a reader of a message sees, and what in it would call people. */
export interface Read {
  readonly text: string;
  readonly calls: readonly string[];
}

export interface Subject {
  /** A message as the stand-in took it. */
  read(message: never): Read;
  /** How the service shows a text differently; default: not at all. */
  shows?(text: string): string;
  /** Those of the stand-in. */
  credentials(chats: Chats): Credentials;
  server(chats: Chats): Server;
  /** Texts that must never be printed. */
  secrets(chats: Chats): string[];
  /** A fault of the service -> the class of its outcome. */
  readonly faults: FaultTable;
  /** Another address of the configuration that leads nowhere good, keeping the secret. */
  config(chats: Chats, origin: string): string;
  /** An answer that repeats this text, or undefined when its words are never shown. */
  echo?(text: string): Fault | MailFault;
  /** Only a message shows whether it arrives. */
  readonly noProbe?: true;
  /** What passes, in place of a dropped connection and a page of a proxy. */
  readonly trouble?: { readonly faults: readonly MailFault[]; readonly maybe: string };
  /** A failure is one message, whole log included. */
  readonly wholeLog?: true;
  /** Does not speak HTTP. */
  readonly noHttp?: true;
}

/** What goes wrong between any two programs -> the class of its outcome. */
export const FAULTS: FaultTable = {
  'a dropped connection': ['drop', 'retry'],
  'an answer that is cut off': ['cut', 'retry'],
  'a page of a proxy': ['html', 'retry'],
  'a 200 that is no JSON': ['not-json', 'retry'],
  'an answer of a megabyte': [{ huge: 1_048_576 }, 'retry'],
  'a redirect': [{ redirect: 'http://127.0.0.1:9' }, 'retry'],
  'a 413 page': [{ status: 413, body: '<html></html>' }, 'rejected'],
};

/** An answer that repeats a text in each of its fields. */
export const echoed = (text: string): Fault => ({
  status: 400,
  body: {
    ok: false,
    error_code: 400,
    code: 7,
    description: `no ${text}`,
    message: `no ${text}`,
    error: `no ${text}`,
  },
});

/** All texts in a value. */
export function textsIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `${value}\n`;
  return Object.values(value).map(textsIn).join('');
}

/** Of a service without markup, which calls no one. */
export const plainly =
  (key: string) =>
  ({ payload }: { payload: Readonly<Record<string, unknown>> }): Read => ({
    text: String(payload[key]),
    calls: [],
  });
