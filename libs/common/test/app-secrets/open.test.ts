import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setSecrets } from '@runner/common/app-secrets/change';
import { openSecrets, secretsToRedact, variablesOf } from '@runner/common/app-secrets/open';
import { Failure } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { redactor } from '@runner/common/secrets/redactor';
import { Secret } from '@runner/common/secrets/secret';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const io = { env: {}, uid: 0, pid: process.pid, now: () => new Date(), stderr: { isTTY: false } };

/** A root with the apps `shop` and `blog`, each with two secrets. */
function freshPaths() {
  const paths = pathsOf(temporaryFolder('secrets'));
  mkdirSync(paths.stateDir, { mode: 0o700 });
  for (const app of ['shop', 'blog']) {
    writeFileSync(paths.state(app), JSON.stringify({ repo: 'acme/shop', branch: 'main' }));
    const entry = (name: string, instance: string) => ({
      name,
      instance,
      plain: false,
      value: new Secret(`${name} of ${instance}`),
    });
    setSecrets({ io: io as unknown as Io, paths }, app, [entry('A', '*'), entry('A', 'web')]);
  }
  return paths;
}

test("an instance gets its own value in place of everyone's", () => {
  const secrets = openSecrets(freshPaths(), {}, 'shop');
  assert.equal(variablesOf(secrets.today('web')), { A: 'A of web' });
  assert.equal(variablesOf(secrets.today('other')), { A: 'A of *' });
});

test('a value that was damaged or copied does not open', () => {
  const damage = (change: (text: string, other: string) => string, code: string) => {
    const paths = freshPaths();
    const text = readFileSync(paths.secrets('shop'), 'utf8');
    writeFileSync(paths.secrets('shop'), change(text, readFileSync(paths.secrets('blog'), 'utf8')));
    try {
      openSecrets(paths, {}, 'shop');
      assert.unreachable();
    } catch (error) {
      assert.instance(error, Failure);
      assert.is((error as Failure).code, code);
    }
  };
  damage((text) => text.replace(/("sealed": ".*)...",/, '$1AAA",'), 'secret_corrupt');
  damage((_, other) => other.replace('"blog"', '"shop"'), 'secret_wrong_app');
  damage((text) => text.replace('"instance": "*"', '"instance": "api"'), 'secret_wrong_app');
  damage((text) => text.replace('"name": "A"', '"name": "B"'), 'secret_wrong_app');
  damage((text) => text.slice(0, -9), 'state_malformed');
});

test('values that are long enough are redacted, and so is each of their lines', () => {
  const paths = freshPaths();
  const values = [
    'short1',
    'twelve chars',
    'twelve_char5',
    'a whole sentence of words',
    'x\nline-number-2\ny',
    '/srv/app/data-2/x.db',
    `${paths.root}/apps/shop/x2.db`,
    'sqlite:/store/shop-2/x.db?mode=rwc&key=long-enough-3',
    '/var/hooks/zq81-a-token-of-3-words',
  ];
  setSecrets(
    { io: io as unknown as Io, paths },
    'shop',
    values.map((text, at) => ({
      name: `V${at}`,
      instance: '*',
      value: new Secret(text),
      plain: false,
    })),
  );
  const redacted = secretsToRedact(openSecrets(paths, {}, 'shop'), paths.root).map((each) =>
    each.reveal(),
  );
  const expected = [
    values[2],
    values[3],
    values[4],
    'line-number-2',
    values[7],
    'long-enough-3',
    values[8],
  ];
  assert.equal(redacted, expected);
  assert.is(
    redactor(redacted.map((each) => new Secret(each)))('/store/shop-2/x.db: -long-enough-3-'),
    '/store/shop-2/x.db: -[REDACTED]-',
  );
});

test.run();
