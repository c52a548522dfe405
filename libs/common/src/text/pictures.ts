/**
 * Control characters as Unicode's pictures of them, in a file that may be printed on a terminal: ESC
 * becomes ␛. They can be turned back, which shows a build's colours again.
 */
import { harmless } from './harmless.ts';

/** The picture of U+0000; those of the others follow. */
const FIRST = 0x2400;
const [DEL, DEL_PICTURE] = [0x7f, 0x2421];

/** The text without control characters but newline and tab; what has no picture is escaped. */
export function withPictures(text: string): string {
  if (!/[^\t\n -~]/.test(text)) return text;
  const pictured = text.replaceAll('\r\n', '\n').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code === DEL ? DEL_PICTURE : FIRST + code);
  });
  return harmless(pictured);
}

/** The text with the control characters of the pictures in it. */
export function withoutPictures(text: string): string {
  return text.replace(/[\u2400-\u2408\u240b-\u241f\u2421]/g, (picture) => {
    const code = picture.charCodeAt(0);
    return String.fromCharCode(code === DEL_PICTURE ? DEL : code - FIRST);
  });
}
