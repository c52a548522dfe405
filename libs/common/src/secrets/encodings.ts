/** The forms in which a tool may print a secret of which it has the bytes. */
import { SECRET_MIN } from './plain-fields.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE64 = `${BASE32.slice(0, 26)}abcdefghijklmnopqrstuvwxyz0123456789+/`;

/**
 * The bytes with `bits` a character, behind any number of other bytes that leaves them at `shift`: only
 * the characters that depend on nothing before and after them.
 */
function encoded(bytes: Buffer, bits: number, alphabet: string, shift: number): string {
  const all = Buffer.concat([Buffer.alloc(shift), bytes]);
  const from = Math.ceil((8 * shift) / bits);
  const to = Math.floor((8 * all.length) / bits);
  let text = '';
  for (let index = from; index < to; index += 1) {
    const at = index * bits;
    const byte = at >> 3;
    const pair = ((all[byte] ?? 0) << 8) | (all[byte + 1] ?? 0);
    text += alphabet[(pair >> (16 - bits - (at & 7))) & ((1 << bits) - 1)];
  }
  return text;
}

/** Raw, in a URL, in JSON, in a shell's quotes, in base64 and base32 at each alignment, in hex. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const base64 = [0, 1, 2].map((shift) => encoded(bytes, 6, BASE64, shift));
  const hex = bytes.toString('hex');
  const uri = encodeURIComponent(value.toWellFormed());
  const forms = [
    value,
    uri,
    uri.replace(/%[0-9A-F]{2}/g, (part) => part.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
    // As a shell traces it.
    value.replaceAll("'", "'\\''"),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ...[0, 1, 2, 3, 4].map((shift) => encoded(bytes, 5, BASE32, shift)),
    ...[hex, hex.toUpperCase()],
  ];
  return [...new Set(forms)].filter((form) => form.length >= SECRET_MIN);
}
