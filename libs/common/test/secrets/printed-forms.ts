/** Forms in which people meet a secret in a log: escaped, quoted, encoded, dumped, wrapped. */
import { execFileSync } from 'node:child_process';

type Print = (value: string) => string;

const bytesOf = (value: string) => [...Buffer.from(value)];
const unitsOf = (value: string) => value.split('');
const hexOf = (unit: number, width: number) => unit.toString(16).padStart(width, '0');
const base64 = (value: string) => Buffer.from(value).toString('base64');
/** JSON in which some characters are `\uXXXX`. */
const jsonWith = (escaped: RegExp) => (value: string) =>
  JSON.stringify({ value }).replace(escaped, (unit) => `\\u${hexOf(unit.charCodeAt(0), 4)}`);
const json: Print = (value) => JSON.stringify({ value });

/** What a program prints that reads the value from standard input. */
const by =
  (program: string, ...args: readonly string[]): Print =>
  (value) =>
    execFileSync(program, args, { input: value, encoding: 'utf8' });
/** What a script prints of the variable VALUE. */
const script =
  (program: string, ...args: readonly string[]): Print =>
  (VALUE) =>
    execFileSync(program, args, { env: { ...process.env, VALUE }, encoding: 'utf8' });

const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#039;',
  ß: '&szlig;',
  ü: '&uuml;',
  é: '&eacute;',
};

/** By the kinds that docs/security.md names. */
export const FOUND: Readonly<Record<string, Readonly<Record<string, Print>>>> = {
  JSON: {
    'JSON.stringify': json,
    'JSON in JSON in JSON': (value) => json(json(json(value))),
    'json_encode of PHP': (value) => jsonWith(/[\u0080-\uffff]/g)(value).replaceAll('/', '\\/'),
    'json.dumps of Python': script(
      'python3',
      '-c',
      'import json,os; print(json.dumps({"k": os.environ["VALUE"]}))',
    ),
    'JSON of Go and Rails': jsonWith(/[<>&\u2028\u2029]/g),
    'a Buffer in JSON': (value) => JSON.stringify(Buffer.from(value)),
    'a Buffer in indented JSON': (value) => JSON.stringify(Buffer.from(value), undefined, 2),
  },
  'string literals': {
    'repr of Python': script('python3', '-c', 'import os; print(repr(os.environ["VALUE"]))'),
    'ascii of Python': script('python3', '-c', 'import os; print(ascii(os.environ["VALUE"]))'),
    'bytes of Python': script('python3', '-c', 'import os; print(os.environb[b"VALUE"])'),
    '\\uXXXX': (value) =>
      unitsOf(value)
        .map((unit) => `\\u${hexOf(unit.charCodeAt(0), 4)}`)
        .join(''),
    '\\u{X}': (value) =>
      unitsOf(value)
        .map((unit) => `\\u{${hexOf(unit.charCodeAt(0), 1)}}`)
        .join(''),
    '\\xXX': (value) =>
      bytesOf(value)
        .map((byte) => `\\x${hexOf(byte, 2)}`)
        .join(''),
    '\\NNN': (value) =>
      bytesOf(value)
        .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
        .join(''),
  },
  'shell quoting': {
    'printf %q': script('bash', '-c', 'printf %q "$VALUE"'),
    'set -x': (value) => script('bash', '-c', 'exec 2>&1; set -x; : "$VALUE"')(value),
    'declare -p': script('bash', '-c', 'declare -p VALUE'),
    "'…'\\''…'": (value) => `'${value.replaceAll("'", "'\\''")}'`,
    '"…"': (value) => `"${value.replace(/[\\"$`]/g, '\\$&')}"`,
  },
  URLs: {
    encodeURIComponent,
    encodeURI,
    'each byte': (value) =>
      bytesOf(value)
        .map((byte) => `%${hexOf(byte, 2)}`)
        .join(''),
    'a form': (value) => new URLSearchParams({ value }).toString(),
    'encoded twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  },
  'HTML and XML': {
    htmlspecialchars: (value) => value.replace(/[&<>"']/g, (sign) => NAMED[sign] as string),
    htmlentities: (value) => value.replace(/[&<>"'ßüé]/g, (sign) => NAMED[sign] as string),
    'decimal numbers': (value) =>
      unitsOf(value)
        .map((unit) => `&#${unit.charCodeAt(0)};`)
        .join(''),
    'hex numbers': (value) =>
      unitsOf(value)
        .map((unit) => `&#x${hexOf(unit.charCodeAt(0), 1)};`)
        .join(''),
  },
  base64: {
    base64: by('base64'),
    'base64 -w0': by('base64', '-w0'),
    'openssl base64': by('openssl', 'base64'),
    base64url: (value) => Buffer.from(value).toString('base64url'),
    'base64 inside': (value) => base64(`user:${value}`),
    'base64 of base64': (value) => base64(base64(`user:${value}`)),
    'base64 of hex': (value) => base64(Buffer.from(value).toString('hex')),
    'base64 of JSON': (value) => base64(json(value)),
    base32: by('base32'),
  },
  hex: {
    'xxd -p': by('xxd', '-p'),
    'with colons': (value) =>
      bytesOf(value)
        .map((byte) => hexOf(byte, 2))
        .join(':'),
    '0x': (value) =>
      bytesOf(value)
        .map((byte) => `0x${hexOf(byte, 2)}`)
        .join(', '),
    'hex of base64': (value) => Buffer.from(base64(value)).toString('hex'),
    'inspect of a Buffer': (value) =>
      `<Buffer ${bytesOf(value)
        .map((byte) => hexOf(byte, 2))
        .join(' ')}>`,
  },
  dumps: {
    xxd: by('xxd'),
    'xxd -e': by('xxd', '-e'),
    'xxd -b': by('xxd', '-b'),
    'xxd -i': by('xxd', '-i'),
    hexdump: by('hexdump', '-v'),
    'hexdump -C': by('hexdump', '-vC'),
    'hexdump -b': by('hexdump', '-vb'),
    'hexdump -d': by('hexdump', '-vd'),
    od: by('od', '-v'),
    'od -x': by('od', '-vx'),
    'od -c': by('od', '-vc'),
    'od -An -tx1': by('od', '-v', '-An', '-tx1'),
    'od -An -tu1': by('od', '-v', '-An', '-tu1'),
    'od -tx4': by('od', '-v', '-tx4'),
  },
  'lists of numbers': {
    '[]byte of Go': (value) => `[${bytesOf(value).join(' ')}]`,
    'a list of Python': (value) => `[${bytesOf(value).join(', ')}]`,
    'indented JSON': (value) => JSON.stringify(bytesOf(value), undefined, 4),
  },
  wrapping: {
    'fold -w 40': by('fold', '-w', '40'),
    'base64 -w20': by('base64', '-w20'),
    'colours and invisible characters': (value) => [...value].join('\u001b[1m\u200b'),
  },
};
