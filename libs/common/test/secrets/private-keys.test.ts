import { KeyStream } from '@runner/common/secrets/private-key-stream';
import { withoutKeys } from '@runner/common/secrets/private-keys';
import { redactor } from '@runner/common/secrets/redactor';
import { createExtractor } from '@runner/extract/extract';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KEYS, piecesOf, WAYS } from './key-texts.ts';

const R = '[REDACTED]';
const NOISE = [
  'error: the key is bad',
  'Building',
  'done',
  '',
  'npm error code 1',
  'src/a.ts(2,7): error TS2322: Wrong.',
  '/srv/app/node_modules/.bin/tsc',
  'HEAD is now at 3f9a21c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6',
  'Step 3/9 : RUN make',
];

function shownPieces(text: string, key: string): string[] {
  return piecesOf(key).filter((piece) => text.includes(piece));
}

for (const [kind, key] of Object.entries(KEYS)) {
  for (const [way, written] of Object.entries(WAYS)) {
    test(`a key ${kind} is removed, ${way}, and the text around it is kept`, () => {
      const text = ['before it', ...written(key), 'error: behind it', 'the end'].join('\n');
      const shown = redactor()(text);
      assert.equal(shownPieces(shown, key), []);
      assert.match(shown, /^before it\n/);
      assert.match(shown, /\nerror: behind it\nthe end$/);
      assert.is(shown.split(R).length, 2, shown);
      assert.is(redactor()(shown), shown);
    });
  }
}

const log = fc.record({
  key: fc.constantFrom(...Object.values(KEYS)),
  way: fc.constantFrom(...Object.values(WAYS)),
  before: fc.array(fc.constantFrom(...NOISE), { maxLength: 5 }),
  after: fc.array(fc.constantFrom(...NOISE), { maxLength: 5 }),
  missing: fc.nat(30),
  cuts: fc.array(fc.nat(4000), { maxLength: 12 }),
});

test('in any mix of lines, keys are hidden and everything else is shown', () => {
  fc.assert(
    fc.property(log, ({ key, way, before, after, cuts }) => {
      const lines = [...before, ...way(key), ...after];
      const stream = new KeyStream();
      let shown = '';
      for (let at = 0, index = 0; at < lines.length; index += 1) {
        const count = 1 + ((cuts[index] ?? 0) % 6);
        shown += stream.take(`${lines.slice(at, at + count).join('\n')}\n`);
        at += count;
      }
      shown += stream.end();
      assert.equal(shownPieces(shown, key), []);
      assert.is(shown, withoutKeys(`${lines.join('\n')}\n`), 'the same at once');
      assert.ok(shown.startsWith(before.map((line) => `${line}\n`).join('')));
      assert.ok(shown.endsWith(after.map((line) => `${line}\n`).join('')));
    }),
    { numRuns: 300 },
  );
});

test('an extracted log never shows a key, in any chunks, even a truncated one', () => {
  fc.assert(
    fc.property(log, ({ key, way, before, after, cuts, missing }) => {
      const lines = way(key);
      const kept = lines.slice(0, Math.max(2, lines.length - missing));
      const bytes = Buffer.from([...before, ...kept, ...after, 'error: bad key'].join('\n'));
      const extractor = createExtractor();
      const places = [0, ...cuts.map((cut) => cut % bytes.length), bytes.length].sort(
        (a, b) => a - b,
      );
      for (const [index, to] of places.entries()) {
        extractor.push(bytes.subarray(places[index - 1] ?? 0, to));
      }
      assert.equal(shownPieces(extractor.end().text, key), []);
    }),
    { numRuns: 300 },
  );
});

test('lines of another speaker between those of a key are shown, and the key is not', () => {
  const key = KEYS['rsa of openssl'] as string;
  const lines = key
    .split('\n')
    .flatMap((line, at) => [`web-1  | ${line}`, ...(at % 3 === 0 ? [`db-1   | row ${at}`] : [])]);
  const rows = lines.filter((line) => line.startsWith('db'));
  assert.is(withoutKeys(lines.join('\n')), [`web-1  | ${R}`, ...rows].join('\n'));
  const bare = key.split('\n').flatMap((line, at) => [line, `warning: ${at} is not all`]);
  const shown = withoutKeys(bare.join('\n'));
  assert.equal(shownPieces(shown, key), []);
  assert.is(shown.split('warning').length, key.split('\n').length + 1);
});

test('a key whose first line is missing is known by its last one', () => {
  const key = KEYS['rsa in pkcs8'] as string;
  const tail = key.split('\n').slice(5);
  assert.is(withoutKeys(['x', ...tail, 'y'].join('\n')), ['x', R, 'y'].join('\n'));
  const stream = new KeyStream();
  const shown = tail.map((line) => stream.take(`${line}\n`)).join('') + stream.end();
  assert.is(shown, `${R}\n`);
});

test('a first line without a last line hides only what can be part of a key', () => {
  const [first = '', second = ''] = (KEYS['rsa in pkcs8'] as string).split('\n');
  const log = ['error: it failed', 'at line 3', 'second error'];
  assert.is(withoutKeys([first, ...log].join('\n')), [R, ...log].join('\n'));
  assert.is(withoutKeys([first, second, ...log].join('\n')), [R, ...log].join('\n'));
  const said = `expected ${first} in key.pem`;
  assert.is(
    withoutKeys([said, ...log].join('\n')),
    [`expected ${R} in key.pem`, ...log].join('\n'),
  );
  const words = Array.from({ length: 9_000 }, (_, at) => `step ${at}`);
  assert.is(withoutKeys([first, ...words].join('\n')), [R, ...words].join('\n'));
  const endless = withoutKeys([first, ...Array(20_000).fill(second)].join('\n'));
  assert.ok(endless.split('\n').length > 10_000, 'what no key is long enough for is shown');
});

test('certificates, public keys and other base64 are left as they are', () => {
  const base64 = Array(6).fill('MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj');
  for (const kind of ['CERTIFICATE', 'PUBLIC KEY', 'RSA PUBLIC KEY', 'PGP MESSAGE']) {
    const text = [`-----BEGIN ${kind}-----`, ...base64, `-----END ${kind}-----`, 'x'].join('\n');
    assert.is(withoutKeys(text), text);
    assert.is(redactor()(text), text);
  }
  const stream = new KeyStream();
  const lines = [...base64, 'PRIVATE KEY is missing', ...base64].map((line) => `${line}\n`);
  assert.is(lines.map((line) => stream.take(line)).join('') + stream.end(), lines.join(''));
});

test.run();
