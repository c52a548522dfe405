/** A token's life: taken, sealed, copied to another app, sealed under a new key, opened. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApp, requireApp, writeApp } from '@runner/common/apps/store';
import { type Io, processIo } from '@runner/common/foundation/io';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { digestOf, fingerprintOf, type Secret, tokenSecret } from '@runner/common/secrets/secret';
import { sealingKeys, tokenFrom } from '@runner/common/tokens/borrow';
import { readToken } from '@runner/common/tokens/input';
import { addMasterKey, dropOldKeys } from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { hasTwoLayers, open, seal } from '@runner/common/tokens/vault';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { freshRoot, scratch } from '../files/scratch.ts';

/** Printable ASCII without the space, 1 to 4096 characters: short, long, and the longest. */
const token = fc.oneof(
  fc.stringMatching(/^[!-~]{1,80}$/),
  fc
    .tuple(fc.stringMatching(/^[!-~]{1,50}$/), fc.integer({ min: 81, max: 4096 }))
    .map(([piece, length]) => piece.repeat(length).slice(0, length)),
  fc.stringMatching(/^[!-~]{4}$/).map((piece) => piece.repeat(1024)),
);

/** Collects what is written to stderr; reads `input`. */
function ioWith(input: string, env: Record<string, string> = {}): { io: Io; told: () => string } {
  let text = '';
  const chunks = [Buffer.from(input, 'utf8')];
  const sink = {
    isTTY: false,
    columns: 80,
    rows: 24,
    closed: false,
    failure: undefined,
    write: (data: string | Uint8Array) => {
      text += String(data);
    },
  };
  const stdin = { fd: 0, isTTY: false, read: () => chunks.shift() ?? null };
  return { io: { ...processIo(), stdin, stderr: sink, env }, told: () => text };
}

function register({ io, paths }: Server, app: string, secret: Secret, twoLayers: boolean): void {
  createApp(paths, {
    version: 1,
    app,
    repo: `acme/${app}`,
    branch: 'main',
    created_at: 'then',
    updated_at: 'then',
    state: { repohost_token: seal(secret, app, sealingKeys(io, paths), { twoLayers }) },
    instances: {},
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
  });
}

/** What `tokens rekey` does. */
function rekey(paths: Paths, apps: readonly string[]): void {
  const keyring = addMasterKey(paths, {});
  for (const name of apps) {
    const app = requireApp(paths, name);
    const value = app.state.repohost_token ?? '';
    const sealed = seal(open(value, name, keyring), name, keyring, {
      twoLayers: hasTwoLayers(value),
    });
    writeApp(paths, { ...app, state: { repohost_token: sealed } });
  }
  assert.is(dropOldKeys(paths, {}), 1);
}

const note = () => {};
const choice = (more: { token?: string; 'token-file'?: string }) => ({
  token: undefined,
  'token-file': undefined,
  note,
  ...more,
});

test('any token survives being sealed, copied, sealed again and opened, in any layers', () => {
  fc.assert(
    fc.property(token, fc.boolean(), fc.boolean(), (text, first, second) => {
      const paths = freshRoot();
      const { io, told: said } = ioWith('');
      register({ io, paths }, 'one', tokenSecret(text), first);
      register({ io, paths }, 'two', tokenFrom(io, paths, 'one'), second);
      assert.is(said(), `Reusing token ${fingerprintOf(digestOf(tokenSecret(text)))} from one\n`);
      for (let round = 0; round < 2; round += 1) {
        for (const app of ['one', 'two']) assert.is(openToken(paths, {}, app)?.reveal(), text);
        rekey(paths, ['one', 'two']);
      }
      assert.equal(
        ['one', 'two'].map((app) =>
          hasTwoLayers(requireApp(paths, app).state.repohost_token ?? ''),
        ),
        [first, second],
      );
      for (const app of ['one', 'two']) assert.is(openToken(paths, {}, app)?.reveal(), text);
    }),
    { numRuns: 60 },
  );
});

test('any token is read unchanged from every source', () => {
  const file = join(scratch(), 'token');
  fc.assert(
    fc.property(token, fc.constantFrom('', '\n', '\r\n'), (text, end) => {
      const read = (io: Io, more = {}) => readToken(io, choice(more), 'Token')?.reveal();
      assert.is(read(ioWith(text + end).io, { token: '-' }), text);
      if (text !== '-') assert.is(read(ioWith('').io, { token: text }), text);
      writeFileSync(file, text + end);
      assert.is(read(ioWith('').io, { 'token-file': file }), text);
      assert.is(read(ioWith('', { RUNNER_TOKEN: text + end }).io), text);
    }),
  );
});

test('invalid or too many bytes are refused in one sentence that does not repeat them', () => {
  const wrong = fc
    .tuple(
      fc.stringMatching(/^[!-~]{0,30}$/),
      fc.oneof(
        fc.integer({ min: 0, max: 0x20 }).map((code) => String.fromCharCode(code)),
        fc.integer({ min: 0x7f, max: 0xd7ff }).map((code) => String.fromCharCode(code)),
        fc.constantFrom('😀', '\u2028', '\ufeff', '\udc00'),
      ),
      fc.stringMatching(/^[!-~]{1,30}$/),
    )
    .map((parts) => parts.join(''));
  const long = fc.integer({ min: 4097, max: 9000 }).map((length) => 'x'.repeat(length));
  fc.assert(
    fc.property(fc.oneof(wrong, long, fc.constantFrom('', '\n', '\r\n')), (text) => {
      const { io } = ioWith(text);
      const sentence = told(() => readToken(io, choice({ token: '-' }), 'Token'));
      assert.match(
        sentence,
        /^token_invalid: the token (is empty|is longer than 4096 characters|has characters that no code host issues: spaces, line breaks or non-ASCII)$/,
      );
    }),
  );
});

test('bytes that are not UTF-8 are refused', () => {
  const file = join(scratch(), 'token');
  fc.assert(
    fc.property(
      fc.integer({ min: 0x80, max: 0xff }),
      fc.stringMatching(/^[!-~]{0,20}$/),
      (byte, rest) => {
        writeFileSync(file, Buffer.concat([Buffer.from([byte]), Buffer.from(rest)]));
        const { io } = ioWith('');
        assert.match(
          told(() => readToken(io, choice({ 'token-file': file }), 'T')),
          /^token_invalid: /,
        );
      },
    ),
  );
});

test('a fingerprint is tk_, four characters, an ellipsis and four, of the first twelve of sha256', () => {
  fc.assert(
    fc.property(token, (text) => {
      const hex = createHash('sha256').update(text, 'ascii').digest('hex').slice(0, 12);
      const shown = fingerprintOf(digestOf(tokenSecret(text)));
      assert.match(shown, /^tk_[0-9a-f]{4}…[0-9a-f]{4}$/);
      assert.is(shown, `tk_${hex.slice(0, 4)}…${hex.slice(-4)}`);
    }),
  );
});

test.run();
