/** Messages of servers as they arrive: signed, checked field by field, or a problem of that server. */
import { type FieldReader, parsed } from './fields.ts';
import { signedText, type Use } from './seal.ts';

/** A message that a server signed, or why it does not count. */
export type Received<T> =
  | { readonly value: T; readonly body: string }
  /** `isSigned`: the server signed it, but it cannot be read. */
  | { readonly problem: string; readonly isSigned: boolean };

const NAMES: Readonly<Record<Use, string>> = {
  result: 'a result',
  events: 'events',
  state: 'a state',
  step: 'a step',
};

/** Reads the text that a server signed; `undefined`: it did not sign it. */
export function readSigned<T>(
  use: Use,
  server: string,
  body: string | undefined,
  field: FieldReader<T>,
): Received<T> {
  if (body === undefined)
    return { problem: `it is not signed with the key of ${server}`, isSigned: false };
  const read = parsed(body, field);
  if ('value' in read) return { ...read, body };
  return {
    problem: `${server} sent ${NAMES[use]} that cannot be read: ${read.problem}`,
    isSigned: true,
  };
}

/** Reads a message of a server. */
export function receive<T>(
  use: Use,
  text: string,
  from: { readonly server: string; readonly key: string },
  field: FieldReader<T>,
): Received<T> {
  return readSigned(use, from.server, signedText(use, text, from), field);
}
