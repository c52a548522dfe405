/** The names that commands may look up: each has an address of its own, which leads to the guard. */
import { isHostName } from '@runner/common/config/network';

/** Names that have an address, at most. */
const NAMES_MAX = 4_096;
const QUERY_MAX = 600;
const A = 1;
/** Of an answer: it is one, authoritative, recursion is there. */
const FOUND = 0x8580;
const NO_SUCH_NAME = 0x8583;
/** In seconds. */
const LASTS = 60;

/** The addresses of names, in 127.64.0.0/10. */
export class HostNames {
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map(['127.0.0.1', '::1'].map((each) => [each, 'localhost']));

  /** The address of a name; undefined if there are too many. */
  addressOf(name: string): string | undefined {
    const known = this.#addresses.get(name);
    if (known !== undefined || this.#addresses.size >= NAMES_MAX) return known;
    const number = this.#addresses.size + 1;
    const address = `127.64.${number >> 8}.${number & 255}`;
    this.#addresses.set(name, address);
    this.#names.set(address, name);
    return address;
  }

  nameOf(address: string): string | undefined {
    return this.#names.get(address);
  }
}

/** Reads a question; undefined if it is not one. */
export function questionIn(query: Buffer) {
  if (query.length < 17 || query.length > QUERY_MAX) return undefined;
  // An answer, another operation, or not one question.
  if (query.readUInt16BE(2) & 0xf800 || query.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    if (length > 63 || at + 1 + length >= query.length) return undefined;
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  if (at + 5 > query.length) return undefined;
  const text = labels.join('.').toLowerCase();
  const name = isHostName(text) && !labels.some((each) => each.includes('.')) ? text : '?';
  const isForAddress = query.readUInt16BE(at + 1) === A;
  const asked = query.subarray(12, at + 5);
  return {
    /** In lower case; `?` if it is not the name of a host. */
    name,
    /** The answer: an address, if it asks for one of IPv4; undefined: there is no such name. */
    answer(address: string | undefined): Buffer {
      const has = address !== undefined && isForAddress;
      const head = Buffer.alloc(12);
      const flags = address === undefined ? NO_SUCH_NAME : FOUND;
      [query.readUInt16BE(0), flags, 1, has ? 1 : 0].forEach((value, index) => {
        head.writeUInt16BE(value, index * 2);
      });
      if (!has) return Buffer.concat([head, asked]);
      const bytes = [0xc0, 12, 0, A, 0, 1, 0, 0, 0, LASTS, 0, 4, ...address.split('.').map(Number)];
      return Buffer.concat([head, asked, Buffer.from(bytes)]);
    },
  };
}
