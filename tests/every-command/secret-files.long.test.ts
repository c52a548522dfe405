/** Options that read a secret from a file take whatever path the caller names. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY, RECIPIENT } from '@runner/testing/age-key';
import { run, shell, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const PEM = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;

const NEW_APP = 'runner add --repo acme/new --branch main --name new';

/** Each option, as the end of a command in `$DIR` on a root with the app `shop`, and its secret. */
const OPTIONS: readonly (readonly [command: string, secret: string])[] = [
  [`${NEW_APP} --token-file`, 'token-of-the-test'],
  [`${NEW_APP} --app-id 7 --app-key-file`, PEM],
  ['runner edit shop --token-file', 'token-of-the-test'],
  ['runner edit shop --app-id 7 --app-key-file', PEM],
  ['runner env set shop NAME --file', 'value of the test'],
  ['runner env import shop --file', 'NAME=value\n'],
  ['runner backup --to "$DIR/out.age" --passphrase-file', 'a long enough passphrase'],
  ['runner restore "$DIR/b.age" --root "$DIR/copy" --identity', IDENTITY],
  [
    'RUNNER_WEBHOOK_URL=https://127.0.0.1:9/ runner notify setup --no-test --webhook-secret-file',
    `whsec_${Buffer.alloc(32).toString('base64')}`,
  ],
];

/** The ways to name a secret, as shell words; `$DIR` holds them. */
const WAYS = [
  '"$DIR/secret"',
  '"$DIR/mounted"',
  '- < "$DIR/secret"',
  '/dev/stdin < "$DIR/secret"',
  '/dev/fd/9 9< "$DIR/secret"',
  '<(cat "$DIR/secret")',
  '<(sleep 0.3; cat "$DIR/secret")',
];

let server = '';
test.before(async () => {
  server = temporaryFolder('server');
  const root = join(server, 'root');
  const app = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', app, { root })).status, 0);
  const backup = ['--to', join(server, 'b.age'), '--recipient', RECIPIENT];
  assert.is((await run('runner-backup', backup, { root })).status, 0);
});

/** A copy of the server, with the secret in a file and, as Kubernetes mounts it, behind two links. */
function prepare(secret: string): string {
  const folder = temporaryFolder('secret');
  cpSync(server, folder, { recursive: true });
  mkdirSync(join(folder, '..2026'));
  writeFileSync(join(folder, '..2026', 'secret'), secret);
  symlinkSync('..2026', join(folder, '..data'));
  symlinkSync('..data/secret', join(folder, 'mounted'));
  symlinkSync('gone', join(folder, 'dangling'));
  writeFileSync(join(folder, 'secret'), secret);
  spawnSync('mkfifo', [join(folder, 'fifo')]);
  return folder;
}

const bash = (script: string, folder: string) =>
  shell(`exec bash -c ${shellWord(script)}`, { root: join(folder, 'root'), env: { DIR: folder } });

for (const [command, secret] of OPTIONS) {
  test(`${command} takes a link, a pipe, a descriptor and standard input`, async () => {
    for (const way of WAYS) {
      const ended = await bash(`${command} ${way}`, prepare(secret));
      assert.is(ended.status, 0, `${way}: ${ended.stderr}`);
    }
  });

  test(`${command} refuses a file that is too large, a directory and a dangling link`, async () => {
    for (const [way, why] of [
      ['/dev/zero', /\/dev\/zero is larger than \d+ bytes/],
      ['<(yes)', /is larger than \d+ bytes/],
      ['"$DIR"', /is a directory/],
      ['"$DIR/dangling"', /there is no file \S+dangling/],
    ] as const) {
      const ended = await bash(`${command} ${way}`, prepare(secret));
      assert.is(ended.status, 1, `${way}: ${ended.stderr}`);
      assert.match(ended.stderr, why);
      assert.match(ended.stderr, /\(file_unreadable\)\n$/);
    }
  });

  test(`Ctrl-C ends ${command} while a FIFO has no writer`, async () => {
    const limited = 'exec timeout --preserve-status --kill-after 10 --signal INT 1 env';
    const ended = await bash(`${limited} ${command} "$DIR/fifo"`, prepare(secret));
    assert.equal([ended.status, ended.stderr], [130, '']);
  });
}

test.run();
