/** Cleaning the longest texts; plain.test.ts holds what cleaning does. */
import { mayHoldToken } from '@runner/common/redaction/redact';
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { harmless } from '@runner/common/text/harmless';
import { cleanText } from '@runner/common/text/plain';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('every cleaner of text copes with 16 MiB of one character', () => {
  const redact = redactor([new Secret('a-known-secret')]);
  for (const [head, piece] of [
    ['', 'a'],
    ['', ' '],
    ['', '-'],
    ['\u001b[', '0'],
    ['\u001b[', ' '],
    ['\u001b]', 'a'],
    ['\u001b', ' '],
    ['-----BEGIN RSA PRIVATE KEY-----', 'A'],
    ['-----BEGIN RSA PRIVATE KEY-----\n', 'A'],
    ['password=', 'a'],
  ] as const) {
    const text = `${head}${piece.repeat(16_777_216)}`;
    for (const clean of [cleanText, mayHoldToken, harmless, redact]) {
      assert.not.throws(() => clean(text), `${clean.name} of ${JSON.stringify(head + piece)}`);
    }
  }
});

test.run();
