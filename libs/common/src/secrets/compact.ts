/**
 * Text without all that a tool may put between the characters of an encoded secret: line breaks,
 * colons, spaces, `%`, `\x`, escapes of the terminal, invisible characters.
 */
import { escapeEnd } from '../text/plain.ts';

/** ASCII letters in lower case and digits: everything else may stand between them. */
const KEPT = Uint8Array.from({ length: 128 }, (_, code) => {
  const isKept = /[A-Za-z0-9]/.test(String.fromCharCode(code));
  return isKept ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : 0;
});

const [ESC, CSI, BACKSLASH, HASH, ZERO] = [0x1b, 0x9b, 0x5c, 0x23, 0x30];
const [F, U, X] = [0x66, 0x75, 0x78];
/** Memory that is kept for the next text, in characters. */
const ROOM = 65_536;

/** A compact text, and where its characters come from. */
export interface Compact {
  readonly units: Uint8Array;
  readonly at: Uint32Array;
  readonly length: number;
}

const units = new Uint8Array(ROOM);
const at = new Uint32Array(ROOM);

function isLetter(text: string, index: number): boolean {
  return (KEPT[text.charCodeAt(index)] ?? 0) !== 0;
}

/** Whether two hex digits stand here: all other letters are greater than `f`. */
function isPairAt(text: string, index: number): boolean {
  const isDigit = (at: number) => {
    const unit = KEPT[text.charCodeAt(at)] ?? 0;
    return unit > 0 && unit <= F;
  };
  return isDigit(index) && isDigit(index + 1);
}

/** Valid until the next call. */
export function compacted(text: string): Compact {
  const isLarge = text.length > ROOM;
  const into = isLarge ? new Uint8Array(text.length) : units;
  const from = isLarge ? new Uint32Array(text.length) : at;
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === ESC || code === CSI) {
      index = Math.max(index, escapeEnd(text, index) - 1);
      continue;
    }
    const unit = code < 128 ? (KEPT[code] as number) : 0;
    if (unit === 0) continue;
    if (unit === X && isPairAt(text, index + 1)) {
      const before = text.charCodeAt(index - 1);
      // `\x67`, `&#x67;`
      if (before === BACKSLASH || before === HASH) continue;
      // `0x67`
      if (before === ZERO && !isLetter(text, index - 2) && !isLetter(text, index + 3)) {
        length -= 1;
        continue;
      }
    }
    // `\u0067`
    if (
      unit === U &&
      text.charCodeAt(index - 1) === BACKSLASH &&
      text.startsWith('00', index + 1)
    ) {
      index += 2;
      continue;
    }
    into[length] = unit;
    from[length] = index;
    length += 1;
  }
  return { units: into, at: from, length };
}

/** Where more goes than what stands between letters. */
const [HEX_SIGN, SIGNS] = [/[0\\#]x/i, /[0\\#]x|\\u|[\x1b\x9b]/i];

/** A form as it may stand in a compact text: `0x` in it may have been taken for a sign of hex, or not. */
export function compactForms(form: string): string[] {
  const letters = form.replace(/[^a-z0-9]/gi, '').toLowerCase();
  if (!SIGNS.test(form)) return [letters];
  const { units: found, length } = compacted(form);
  const compact = Buffer.from(found.buffer, 0, length).toString('latin1');
  return HEX_SIGN.test(form) ? [compact, letters] : [compact];
}
