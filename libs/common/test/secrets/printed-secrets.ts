/** Secrets of the shapes that people have. */
import { generateKeyPairSync } from 'node:crypto';

/** Letters and digits that look random, the same each time. */
function lettersOf(seed: number, length: number): string {
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  let [state, text] = [seed * 2_654_435_761 + 12_345, ''];
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += signs[(state >>> 16) % signs.length];
  }
  return text;
}

const pem = (bits: number) =>
  generateKeyPairSync('rsa', { modulusLength: bits })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

const serviceAccount = (indent: number) =>
  JSON.stringify(
    {
      type: 'service_account',
      project_id: 'shop-1',
      private_key: pem(1024),
      client_email: 'app@shop-1.iam.example',
      token_uri: 'https://oauth2.example.com/token',
    },
    undefined,
    indent,
  );

const SIGNS = ['/', '&', '<', '>', '"', "'", '\\', '$', '+', '=', '%', 'ß', 'é', '@', '!'];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Sixty of them. */
export const SECRETS: readonly string[] = [
  ...SIGNS.map(
    (sign, at) => `${lettersOf(at, 4)}${sign}${lettersOf(at + 20, 5)}${sign}${lettersOf(at, 2)}7x`,
  ),
  ...numbers(8).map((at) => `${lettersOf(at + 40, 11)}${at}`),
  ...numbers(6).map((at) => `P${at}s$w0rd&<${lettersOf(at + 60, 3)}>"'/\\%+=ü`),
  ...numbers(8).map(
    (at) =>
      `postgres://shop:${lettersOf(at, 9 + at)}@db.internal:5432/shop?sslmode=require&pool=${at}`,
  ),
  `amqp://app:${encodeURIComponent(`p@ss/w${lettersOf(9, 8)}`)}@mq:5671/apps`,
  `redis://:${lettersOf(5, 32)}@cache:6379/0`,
  `https://hooks.chat.example/services/T0001/B0001/${lettersOf(8, 24)}`,
  ...numbers(6).map((at) => Buffer.from(lettersOf(at + 80, 24 + 3 * at)).toString('base64')),
  ...numbers(4).map((at) => Buffer.from(lettersOf(at + 90, 16 + at)).toString('hex')),
  ...numbers(4).map((at) => `tk_${lettersOf(at + 100, 40)}`),
  ...[
    'correct horse battery staple 2024',
    'Zwölf Boxkämpfer jagen Viktor 4711',
    'пароль-от-базы-данных-42',
  ],
  ...[pem(1024).trim(), serviceAccount(0), serviceAccount(2)],
];
