/** How tools print a value of which they know the bytes, and what is still to be read of it. */

const lines = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, 'gs')) ?? [];
const hexOf = (text: string) => Buffer.from(text).toString('hex');
const pairs = (text: string) => lines(hexOf(text), 2);

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const signs = lines(bits, 5).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]);
  return signs.join('').padEnd(Math.ceil(signs.length / 8) * 8, '=');
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

export const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in base64': base64,
  'in base64, wrapped at 76': (text) => lines(base64(text), 76).join('\n'),
  'in base64, wrapped at 64': (text) => lines(base64(text), 64).join('\n'),
  'in base64, wrapped at 60 with CRLF': (text) => lines(base64(text), 60).join('\r\n'),
  'in base64url, wrapped at 64': (text) =>
    lines(Buffer.from(text).toString('base64url'), 64).join('\n  '),
  'in base32': (text) => lines(base32(text), 76).join('\n'),
  'in hex, wrapped as xxd -p does': (text) => lines(hexOf(text), 60).join('\n'),
  'in hex with colons': (text) => pairs(text).join(':').toUpperCase(),
  'in hex with spaces': (text) => pairs(text).join(' '),
  'in hex with 0x and commas': (text) =>
    pairs(text)
      .map((pair) => `0x${pair}`)
      .join(', '),
  'in hex with \\x': (text) =>
    pairs(text)
      .map((pair) => `\\x${pair}`)
      .join(''),
  'in JSON escapes': (text) =>
    pairs(text)
      .map((pair) => `\\u00${pair}`)
      .join(''),
  'percent-encoded': (text) =>
    pairs(text)
      .map((pair) => `%${pair.toUpperCase()}`)
      .join(''),
  'split by a backslash and a line break': (text) => lines(text, 11).join('\\\n'),
  'split by a carriage return': (text) => lines(text, 7).join('\r'),
  'split by invisible characters': (text) =>
    [...text].join('\u034f').replace(/(.{30})/g, '$1\ufe0f\u180e'),
  'split by colours': (text) => lines(text, 5).join('\x1b[1;31m'),
};

function dump(text: string, line: (row: string, at: number) => string): string {
  return lines(Buffer.from(text).toString('latin1'), 16)
    .map((row, index) => line(row, index * 16))
    .join('\n');
}

const printable = (row: string) => row.replace(/[^ -~]/g, '.');
const hexRow = (row: string, width: number) =>
  lines(Buffer.from(row, 'latin1').toString('hex'), width).join(' ');

/** Columns with an offset before them and perhaps the text beside them. */
export const DUMPS: typeof ENCODINGS = {
  'dumped by xxd': (text) =>
    dump(
      text,
      (row, at) =>
        `${at.toString(16).padStart(8, '0')}: ${hexRow(row, 4).padEnd(39)}  ${printable(row)}`,
    ),
  'dumped by hexdump -C': (text) =>
    dump(
      text,
      (row, at) =>
        `${at.toString(16).padStart(8, '0')}  ${hexRow(row, 2).padEnd(48)}  |${printable(row)}|`,
    ),
  'dumped by od -tx1': (text) =>
    dump(text, (row, at) => `${at.toString(8).padStart(7, '0')} ${hexRow(row, 2)}`),
};

const LEFT = 15;

/** Letters and digits of the encoded value that are still to be read, from fifteen in a row on. */
export function leftOf(shown: string, value: string): string {
  const plain = shown
    .replaceAll('[REDACTED]', '!')
    .replace(/[^A-Za-z0-9!]/g, '')
    .toLowerCase();
  const forms = [
    value,
    hexOf(value),
    ...[0, 1, 2].map((shift) => base64('\0'.repeat(shift) + value)),
    ...[0, 1, 2, 3, 4].map((shift) => base32('\0'.repeat(shift) + value)),
  ];
  for (const form of forms.map((each) => each.replace(/[^A-Za-z0-9]/g, '').toLowerCase())) {
    for (let at = 0; at + LEFT <= form.length; at += 1) {
      const piece = form.slice(at, at + LEFT);
      if (/^(.)\1*$/.test(piece)) continue;
      if (plain.includes(piece)) return piece;
    }
  }
  return '';
}
