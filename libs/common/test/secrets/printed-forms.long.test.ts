/** Secrets as the tools print them that people use: nothing that can be read is left. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { partsOf } from '@runner/common/app-secrets/open';
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { checkoutFolder } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FOUND } from './printed-forms.ts';
import { SECRETS } from './printed-secrets.ts';

/** Characters of a printed form that are compared, and how many such places in a row may be shown. */
const WINDOW = 8;
const LEFT_MAX = 5;

/** A value of the same shape with other letters and digits; of a key with other base64. */
function otherThan(value: string): string {
  if (value.includes('-----BEGIN')) return value.replace(/MII[^-]+/g, otherThan);
  return value.replace(/[a-z0-9]/gi, (sign) => {
    const base = /[0-9]/.test(sign) ? 48 : /[a-z]/.test(sign) ? 97 : 65;
    return String.fromCharCode(base + ((sign.charCodeAt(0) - base + 7) % (base === 48 ? 10 : 26)));
  });
}

/** The longest part of a printed value that is shown, unless another value is printed with it too. */
function longestLeft(shown: string, printed: string, other: string): string {
  const [text, form, same] = [shown, printed, other].map((each) => each.replace(/\s/g, ''));
  let [run, longest, end] = [0, 0, 0];
  for (let at = 0; at + WINDOW <= (form?.length ?? 0); at += 1) {
    const piece = form?.slice(at, at + WINDOW) ?? '';
    run = text?.includes(piece) && !same?.includes(piece) ? run + 1 : 0;
    if (run > longest) [longest, end] = [run, at + WINDOW];
  }
  return longest > LEFT_MAX ? (form?.slice(end - longest - WINDOW + 1, end) ?? '') : '';
}

test('there are sixty secrets, and forty forms or more, of the kinds that docs/security.md names', () => {
  assert.is(new Set(SECRETS).size, 60);
  const names = Object.values(FOUND).flatMap((forms) => Object.keys(forms));
  assert.ok(names.length >= 40);
  const page = readFileSync(join(checkoutFolder(), 'docs/security.md'), 'utf8').replace(
    /\s+/g,
    ' ',
  );
  for (const kind of Object.keys(FOUND)) assert.ok(page.includes(kind), kind);
});

for (const [kind, forms] of Object.entries(FOUND)) {
  for (const [name, print] of Object.entries(forms)) {
    test(`a secret is not readable as ${kind}: ${name}`, () => {
      for (const value of SECRETS) {
        const redact = redactor(partsOf(value).map((part) => new Secret(part)));
        const printed = print(value);
        const left = longestLeft(
          redact(`step 1\n${printed}\ndone\n`),
          printed,
          print(otherThan(value)),
        );
        assert.is(left, '', value.slice(0, 60));
      }
    });
  }
}

test.run();
