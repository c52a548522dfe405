/** The name of the server in the first message of TLS. */

/** Limit of a ClientHello, in bytes: one with many keys has a few thousand. */
export const HELLO_MAX = 66_000;
const RECORD_MAX = 16_384;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
/** Version and random bytes. */
const FIXED = 34;

/**
 * The name that a client asks for, in lower case: '' if it names none, undefined while more bytes are
 * needed, null if it is not a ClientHello.
 */
export function serverName(bytes: Buffer): string | null | undefined {
  const message = handshake(bytes);
  if (message === null || message.length < 4) return message && undefined;
  if (message[0] !== CLIENT_HELLO) return null;
  const end = 4 + message.readUIntBE(1, 3);
  if (end > HELLO_MAX) return null;
  if (message.length < end) return undefined;
  try {
    return nameIn(message.subarray(4, end));
  } catch {
    return null;
  }
}

/** What the records contain; they may split it anywhere. null if they are not of a handshake. */
function handshake(bytes: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE) return null;
    if (at + 5 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > RECORD_MAX) return null;
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

/** Throws RangeError where it is cut off. */
function nameIn(hello: Buffer): string | null {
  let at = FIXED;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  if (at === hello.length) return '';
  const end = at + 2 + hello.readUInt16BE(at);
  if (end > hello.length) return null;
  const names: string[] = [];
  for (at += 2; at < end; ) {
    const kind = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    if (at + 4 + length > end) return null;
    if (kind === 0) names.push(listed(hello.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  // Of two names servers may take either.
  return names.length > 1 ? null : (names[0] ?? '').toLowerCase();
}

/** The list of names has one, of the type host. */
function listed(list: Buffer): string {
  const length = list.readUInt16BE(3);
  const isOnly = list.readUInt16BE(0) === length + 3 && list.length === length + 5;
  if (!isOnly || list.readUInt8(2) !== 0) throw new RangeError('not one name');
  return list.subarray(5).toString('latin1');
}
