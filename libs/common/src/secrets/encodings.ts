/** The forms in which a tool may print a secret of which it has the bytes. */
import { SECRET_MIN } from './plain-fields.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The bytes with `bits` a character, behind any number of other bytes that leaves them at `shift`: only
 * the characters that depend on nothing before and after them.
 */
function encoded(bytes: Buffer, bits: 5 | 6, shift: number): string {
  const all = Buffer.concat([Buffer.alloc(shift), bytes]);
  const text = bits === 6 ? all.toString('base64') : base32(all);
  return text.slice(Math.ceil((8 * shift) / bits), Math.floor((8 * all.length) / bits));
}

function base32(bytes: Buffer): string {
  let text = '';
  for (let bit = 0; bit < 8 * bytes.length; bit += 5) {
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += BASE32[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}

/** Raw, in a URL, in JSON, in a shell's quotes, in base64 and base32 at each alignment, in hex. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const base64 = [0, 1, 2].map((shift) => encoded(bytes, 6, shift));
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
    ...[0, 1, 2, 3, 4].map((shift) => encoded(bytes, 5, shift)),
    ...[hex, hex.toUpperCase()],
  ];
  return [...new Set(forms)].filter((form) => form.length >= SECRET_MIN);
}
