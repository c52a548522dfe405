/** The forms in which a tool may print the bytes of a secret. */

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

/** In base64 and base32 at each alignment. */
function inBase(text: string, bits: 5 | 6): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const shifts = bits === 6 ? [0, 1, 2] : [0, 1, 2, 3, 4];
  return shifts.map((shift) => encoded(bytes, bits, shift));
}

const inHex = (text: string) => Buffer.from(text, 'utf8').toString('hex');

/** In base64, base32 and hex, and in two of them, one after the other; in base64 also as JSON. */
export function formsOf(value: string): string[] {
  const hex = inHex(value);
  const base64 = inBase(value, 6);
  const others = [JSON.stringify(value).slice(1, -1), hex, ...base64].filter(
    (text) => text !== value,
  );
  const twice = [...base64.map(inHex), ...others.flatMap((text) => inBase(text, 6))];
  return [hex, ...base64, ...twice, ...inBase(value, 5)];
}

/** In hex: after a `%`, its first digits look like an escape. */
export function hexForms(value: string): string[] {
  const hex = inHex(value);
  return [hex, hex.toUpperCase()];
}

/** In a URL and in JSON: of blanks and quotes alone, little is left without escapes. */
export function escapedForms(value: string): string[] {
  return [encodeURIComponent(value.toWellFormed()), JSON.stringify(value).slice(1, -1)];
}
