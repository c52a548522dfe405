/** Private keys as programs write them, and the ways in which logs show them. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';

const wrapped = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];

function made(kind: string, width: number, bytes: number, headers: readonly string[] = []): string {
  const body = wrapped(randomBytes(bytes).toString('base64'), width);
  return [`-----BEGIN ${kind}-----`, ...headers, ...body, `-----END ${kind}-----`].join('\n');
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;

/** Each is the lines of a key, joined by newlines. */
export const KEYS: Readonly<Record<string, string>> = {
  'rsa of openssl': String(rsa.export({ type: 'pkcs1', format: 'pem' })).trim(),
  'rsa in pkcs8': String(rsa.export(pkcs8)).trim(),
  'ec of openssl': String(ec.export({ type: 'sec1', format: 'pem' })).trim(),
  'ed25519 in pkcs8': String(generateKeyPairSync('ed25519').privateKey.export(pkcs8)).trim(),
  'encrypted, with headers': String(
    rsa.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' }),
  ).trim(),
  'encrypted pkcs8': String(ec.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' })).trim(),
  'of ssh-keygen': made('OPENSSH PRIVATE KEY', 70, 291),
  'of gpg': made('PGP PRIVATE KEY BLOCK', 64, 700, ['Version: GnuPG v2', '']).replace(
    /\n(?=-----END)/,
    '\n=4fQz\n',
  ),
};

/** How the lines of a key stand in a log. */
export const WAYS: Readonly<Record<string, (key: string) => string[]>> = {
  'as they are': (key) => key.split('\n'),
  'behind a lane': (key) => key.split('\n').map((line) => `web-1  | ${line}`),
  'behind a label': (key) => key.split('\n').map((line) => `[api] ${line}`),
  'behind a time': (key) =>
    key.split('\n').map((line, at) => `2026-01-02T03:04:${String(at).padStart(2, '0')}Z ${line}`),
  'behind docker build': (key) => key.split('\n').map((line, at) => `#12 ${at * 3}.5 ${line}`),
  'behind line numbers': (key) =>
    key.split('\n').map((line, at) => `${String(at + 1).padStart(6)}\t${line}`),
  'with an indent': (key) => ['key: |', ...key.split('\n').map((line) => `    ${line}`)],
  'with carriage returns': (key) => key.split('\n').map((line) => `${line}\r`),
  'in colour': (key) => key.split('\n').map((line) => `\u001b[31m${line}\u001b[0m`),
  'in colour behind a lane': (key) =>
    key.split('\n').map((line) => `\u001b[36mapi_1 |\u001b[0m ${line}`),
  'as strings of a program': (key) => key.split('\n').map((line) => `  "${line}\\n" +`),
  'as JSON lines': (key) => key.split('\n').map((line) => JSON.stringify({ level: 30, msg: line })),
  'in one line of JSON': (key) => [JSON.stringify({ id: 7, key, next: 'seen' })],
  'in JSON in JSON': (key) => [JSON.stringify({ body: JSON.stringify({ key }) })],
  'in a variable': (key) => [`KEY='${key.replaceAll('\n', '\\n')}'`],
  'in JSON with escaped signs': (key) => [
    JSON.stringify({ key }).replaceAll('/', '\\/').replaceAll('+', '\\u002B'),
  ],
  'without line breaks': (key) => [`got ${key.replaceAll('\n', ' ')} here`],
  'behind words': (key) => `error: cannot parse ${key} given`.split('\n'),
  'with a last line of a shell': (key) => `+ echo '${key}'`.split('\n'),
  'folded again': (key) => {
    const [first = '', ...rest] = key
      .split('\n')
      .filter((line) => !/^[\w-]+: |^=....$|^$/.test(line));
    return [first, ...wrapped(rest.slice(0, -1).join(''), 20), rest.at(-1) ?? ''];
  },
  'with each line folded': (key) =>
    key.split('\n').flatMap((line) => (line.startsWith('-') ? [line] : wrapped(line, 40))),
};

/** Pieces of a key's body of which none may be shown. */
export function piecesOf(key: string): string[] {
  const lines = key.split('\n').slice(1, -1);
  return lines
    .filter((line) => !/^[\w-]+: |^=....$/.test(line))
    .flatMap((line) => line.match(/[^/+]{10,20}/g) ?? []);
}
