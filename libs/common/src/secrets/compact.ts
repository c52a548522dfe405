/** The letters and digits of a text: whatever else a tool puts between those of a secret does not count. */
import { roomFor, type UnescapedText } from './unescaped.ts';

/** ASCII letters in lower case and digits. */
const KEPT = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(sign) ? sign.toLowerCase().charCodeAt(0) : 0;
});

const room = roomFor();

/** The letters and digits of a reading. Valid until the next call. */
export function compacted(all: UnescapedText): UnescapedText {
  const { units, from, to } = room(all.length);
  let length = 0;
  for (let index = 0; index < all.length; index += 1) {
    const code = all.units[index] as number;
    const unit = code < 128 ? (KEPT[code] as number) : 0;
    if (unit === 0) continue;
    units[length] = unit;
    from[length] = all.from[index] as number;
    to[length] = all.to[index] as number;
    length += 1;
  }
  return { units, from, to, length };
}
