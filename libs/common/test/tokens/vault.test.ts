import { createHmac, randomBytes } from 'node:crypto';
import { Failure } from '@runner/common/foundation/failure';
import { Secret } from '@runner/common/secrets/secret';
import { decode, type Keyring, type MasterKey } from '@runner/common/tokens/keyring';
import { hasTwoLayers, open, seal } from '@runner/common/tokens/vault';
import fc from 'fast-check';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal, told } from '../cli/refusal.ts';

const TOKEN = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
const DAMAGED = "token_corrupt: the stored token of 'blog' is damaged";
const FOREIGN = "token_corrupt: the stored token of 'blog' has an algorithm that is not allowed";

function newKey(): MasterKey {
  const bytes = randomBytes(32);
  const mac = createHmac('sha256', bytes).update('runner/kid/v1').digest('hex');
  return { kid: `m_${mac.slice(0, 8)}`, bytes };
}

const key = newKey();
const keyring: Keyring = [key];
const header = { kid: key.kid, app: 'blog', fld: 'state.repohost_token' };

const sealed = (twoLayers: boolean) => seal(new Secret(TOKEN), 'blog', keyring, { twoLayers });
const opened = (value: string, app = 'blog', keys = keyring) => open(value, app, keys).reveal();

/** What jose makes of a text with a header of ours, or of another. */
function joseSeals(text: string, alg: string, more: Record<string, unknown> = {}, enc = 'A256GCM') {
  const protectedHeader = { alg, enc, ...header, ...more };
  const jwe = new CompactEncrypt(new TextEncoder().encode(text));
  return jwe.setProtectedHeader(protectedHeader).encrypt(key.bytes);
}

/** A value of ours with its header exchanged, which breaks its authentication. */
function withHeader(value: string, change: Record<string, unknown> | unknown[] | null): string {
  const [head = '', ...rest] = value.split('.');
  const old = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>;
  const next = change === null || Array.isArray(change) ? change : { ...old, ...change };
  return [Buffer.from(JSON.stringify(next)).toString('base64url'), ...rest].join('.');
}

test('base64url is read when it is what would be written, and only then', () => {
  const digits = [...'ABYZabyz0189-_+/= \n\u00e9'];
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...digits), maxLength: 12 }),
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  fc.assert(
    fc.property(text, (given) => {
      const bytes = Buffer.from(given, 'base64url');
      const canonical = bytes.toString('base64url') === given;
      assert.equal(decode(given), canonical ? bytes : undefined);
      assert.equal(decode(given, bytes.length), canonical ? bytes : undefined);
      assert.is(decode(given, bytes.length + 1), undefined);
    }),
    { numRuns: 300 },
  );
});

for (const [twoLayers, alg] of [
  [false, 'dir'],
  [true, 'A256GCMKW'],
] as const) {
  test(`jose decrypts values sealed with ${alg}`, async () => {
    const value = sealed(twoLayers);
    const { plaintext, protectedHeader } = await compactDecrypt(value, key.bytes);
    assert.is(new TextDecoder().decode(plaintext), TOKEN);
    const { iv, tag, ...rest } = protectedHeader;
    assert.equal(rest, { alg, enc: 'A256GCM', ...header });
    assert.is(typeof iv, twoLayers ? 'string' : 'undefined');
    assert.is(typeof tag, twoLayers ? 'string' : 'undefined');
  });

  test(`values that jose seals with ${alg} are decrypted`, async () => {
    assert.is(opened(await joseSeals(TOKEN, alg)), TOKEN);
  });

  test(`any token survives ${alg}`, () => {
    const text = fc.oneof(fc.stringMatching(/^[!-~]{1,300}$/), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(text, (token) => {
        assert.is(opened(seal(new Secret(token), 'blog', keyring, { twoLayers })), token);
      }),
    );
  });

  test(`every single flipped bit of a value sealed with ${alg} is refused`, () => {
    const bytes = Buffer.from(sealed(twoLayers), 'latin1');
    const codes = new Set<string>();
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 1; bit < 256; bit *= 2) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (bytes[at] as number) ^ bit;
        codes.add(refusal(() => open(flipped.toString('latin1'), 'blog', keyring)).code);
      }
    }
    assert.equal([...codes].sort(), ['mkey_unknown', 'token_corrupt']);
  });

  test(`every value of ${alg} that was cut short, lengthened or put together of two is refused`, () => {
    const [value, other] = [sealed(twoLayers), sealed(twoLayers)];
    for (let length = 0; length < value.length; length += 1) {
      assert.is(refusal(() => open(value.slice(0, length), 'blog', keyring)).code, 'token_corrupt');
    }
    for (const more of ['.', 'A', 'AAAA', '=', '\n', ' ', '.AAAA']) {
      assert.is(
        told(() => open(value + more, 'blog', keyring)),
        DAMAGED,
      );
      assert.is(
        told(() => open(more + value, 'blog', keyring)),
        DAMAGED,
      );
    }
    const [parts, others] = [value.split('.'), other.split('.')];
    for (const index of [0, 1, 2, 3, 4]) {
      if (parts[index] === others[index]) continue;
      const mixed = parts.map((part, at) => (at === index ? others[at] : part)).join('.');
      assert.is(
        told(() => open(mixed, 'blog', keyring)),
        DAMAGED,
      );
    }
  });

  test(`a value of ${alg} copied to another app is reported as such`, () => {
    const failure = refusal(() => open(sealed(twoLayers), 'shop', keyring));
    assert.is(failure.code, 'token_wrong_app');
    assert.is(failure.message, "the stored token of 'shop' was sealed for another app or field");
  });

  test(`a value of ${alg} sealed with an unknown key is reported as such, not as damaged`, () => {
    const failure = refusal(() => open(sealed(twoLayers), 'blog', [newKey(), newKey()]));
    assert.is(failure.code, 'mkey_unknown');
    assert.match(
      failure.message,
      /^the stored token of 'blog' is sealed with a master key that is not in use/,
    );
  });

  test(`a key with the right name and other bytes does not open ${alg}`, () => {
    const impostor: Keyring = [{ kid: key.kid, bytes: randomBytes(32) }];
    assert.is(
      told(() => open(sealed(twoLayers), 'blog', impostor)),
      DAMAGED,
    );
  });

  test(`an older key still opens ${alg}, the first one seals`, () => {
    const fresh = newKey();
    assert.is(opened(sealed(twoLayers), 'blog', [fresh, key]), TOKEN);
    const next = seal(new Secret(TOKEN), 'blog', [fresh, key], { twoLayers });
    assert.is(decodeProtectedHeader(next).kid, fresh.kid);
  });

  test(`sealing with ${alg} twice gives values that share only the plain header`, () => {
    const [one, two] = [sealed(twoLayers).split('.'), sealed(twoLayers).split('.')];
    for (const index of [2, 3, 4]) assert.is.not(one[index], two[index]);
    if (twoLayers) for (const index of [0, 1]) assert.is.not(one[index], two[index]);
  });

  test(`non-canonical base64url of ${alg} is refused`, () => {
    const parts = sealed(twoLayers).split('.');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    let tried = 0;
    parts.forEach((part, index) => {
      for (const last of alphabet) {
        const other = part.slice(0, -1) + last;
        const same = Buffer.from(other, 'base64url').equals(Buffer.from(part, 'base64url'));
        if (part === '' || other === part || !same) continue;
        tried += 1;
        const value = parts.map((each, at) => (at === index ? other : each)).join('.');
        assert.is(
          told(() => open(value, 'blog', keyring)),
          DAMAGED,
        );
      }
    });
    assert.ok(tried > 0);
    for (const value of [
      `${parts.join('.')}=`,
      parts.join('.').replaceAll('-', '+').replaceAll('_', '/'),
    ]) {
      if (value !== parts.join('.'))
        assert.is(
          told(() => open(value, 'blog', keyring)),
          DAMAGED,
        );
    }
  });

  test(`a header of ${alg} that claims another app, field or key is refused`, () => {
    const value = sealed(twoLayers);
    assert.is(
      told(() => open(withHeader(value, { app: 'shop' }), 'shop', keyring)).split(':')[0],
      'token_corrupt',
    );
    assert.is(
      told(() => open(withHeader(value, { fld: 'x' }), 'blog', keyring)),
      DAMAGED,
    );
    assert.is(
      refusal(() => open(withHeader(value, { kid: 'm_00000000' }), 'blog', keyring)).code,
      'mkey_unknown',
    );
  });

  test(`invalid headers of ${alg} are damage, not a bug`, () => {
    const odd: unknown[] = [1, true, null, {}, [], [1, 2], { length: 12 }, '', 'é', 'A'.repeat(16)];
    for (const value of odd) {
      for (const field of ['iv', 'tag', 'kid', 'app', 'fld', 'alg', 'enc']) {
        const { code } = refusal(() =>
          open(withHeader(sealed(twoLayers), { [field]: value }), 'blog', keyring),
        );
        assert.ok(['token_corrupt', 'mkey_unknown'].includes(code), code);
      }
    }
    for (const whole of [null, [], [1]]) {
      assert.is(
        refusal(() => open(withHeader(sealed(twoLayers), whole), 'blog', keyring)).code,
        'token_corrupt',
      );
    }
  });
}

test('other algorithms are refused, above all "none"', async () => {
  for (const change of [
    { alg: 'none' },
    { alg: 'NONE' },
    { alg: '' },
    { alg: 'A256KW' },
    { alg: 'A128GCMKW' },
    { alg: 'RSA-OAEP' },
    { alg: 'PBES2-HS256+A128KW' },
    { enc: 'none' },
    { enc: 'A128GCM' },
    { enc: 'A256CBC-HS512' },
  ]) {
    for (const twoLayers of [false, true]) {
      assert.is(
        told(() => open(withHeader(sealed(twoLayers), change), 'blog', keyring)),
        FOREIGN,
      );
    }
  }
  const wrapped = await joseSeals(TOKEN, 'A256KW');
  assert.is(
    told(() => open(wrapped, 'blog', keyring)),
    FOREIGN,
  );
  const head = Buffer.from(JSON.stringify({ alg: 'none', ...header })).toString('base64url');
  const bare = Buffer.from(TOKEN).toString('base64url');
  for (const value of [`${head}.${bare}.`, `${head}...${bare}.`]) {
    assert.is(refusal(() => open(value, 'blog', keyring)).code, 'token_corrupt');
  }
});

test('one algorithm does not pass for the other', () => {
  assert.is(
    told(() => open(withHeader(sealed(true), { alg: 'dir' }), 'blog', keyring)),
    DAMAGED,
  );
  assert.is(
    told(() => open(withHeader(sealed(false), { alg: 'A256GCMKW' }), 'blog', keyring)),
    DAMAGED,
  );
});

test('a value of another field of the same app is refused', async () => {
  const value = await joseSeals(TOKEN, 'dir', { fld: 'state.other' });
  assert.is(refusal(() => open(value, 'blog', keyring)).code, 'token_wrong_app');
});

test('a value shows whether it has the second layer', () => {
  assert.is(hasTwoLayers(sealed(true)), true);
  assert.is(hasTwoLayers(sealed(false)), false);
  for (const value of ['', 'x', '....', 'bnVsbA.a.b.c.d']) assert.is(hasTwoLayers(value), false);
});

test('neither the value nor a refusal shows the token', () => {
  for (const twoLayers of [false, true]) {
    const value = sealed(twoLayers);
    for (const text of [
      value,
      value
        .split('.')
        .map((part) => Buffer.from(part, 'base64url'))
        .join(''),
    ]) {
      assert.not.ok(text.includes(TOKEN));
    }
    const failure = refusal(() => open(value, 'shop', keyring));
    assert.not.ok(`${failure.stack}${JSON.stringify(failure.facts)}`.includes(TOKEN));
  }
});

test('any text is decrypted or refused with a code', () => {
  const part = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc
      .record({
        alg: fc.constantFrom('dir', 'A256GCMKW'),
        enc: fc.constant('A256GCM'),
        kid: fc.constant(key.kid),
        iv: fc.anything(),
        tag: fc.anything(),
      })
      .map((value) => Buffer.from(JSON.stringify(value) ?? '').toString('base64url')),
  );
  const value = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.')),
  );
  fc.assert(
    fc.property(value, (text) => {
      try {
        open(text, 'blog', keyring);
        assert.unreachable(text);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        assert.ok(['token_corrupt', 'mkey_unknown'].includes(error.code), error.code);
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
