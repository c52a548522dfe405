import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resealSecrets, setSecrets, unsetSecrets } from '@runner/common/app-secrets/change';
import { openSecrets, secretsToRedact } from '@runner/common/app-secrets/open';
import type { Io } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { knownRedactor } from '@runner/common/redaction/known-secrets';
import { Secret } from '@runner/common/secrets/secret';
import { addMasterKey, dropOldKeys } from '@runner/common/tokens/keyring';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const value = (at: number) => `s3cretvalue-${String(at).padStart(5, '0')}`;

function world() {
  const paths = pathsOf(temporaryFolder('former'));
  mkdirSync(paths.stateDir, { mode: 0o700 });
  writeFileSync(paths.state('shop'), JSON.stringify({ repo: 'acme/shop', branch: 'main' }));
  const io = {
    env: {},
    uid: 0,
    pid: process.pid,
    now: () => new Date(),
    stderr: { isTTY: false },
  } as unknown as Io;
  const server = { io, paths };
  return {
    ...server,
    set: (text: string, plain = false) =>
      setSecrets(server, 'shop', [{ name: 'KEY', instance: '*', plain, value: new Secret(text) }]),
    unset: () => unsetSecrets(server, 'shop', ['KEY'], '*'),
    redacted: () =>
      secretsToRedact(openSecrets(paths, {}, 'shop'), paths.root).map((secret) => secret.reveal()),
  };
}

test('the last five values of a secret are redacted, also of one that is no longer set', () => {
  const { set, unset, redacted, paths } = world();
  for (let at = 0; at < 7; at += 1) set(value(at));
  set(value(6));
  assert.equal(redacted(), [6, 5, 4, 3, 2, 1].map(value));
  unset();
  assert.equal(redacted(), [6, 5, 4, 3, 2].map(value));
  assert.not.match(readFileSync(paths.secrets('shop'), 'utf8'), 's3cretvalue');
  set(value(5));
  assert.equal(redacted(), [5, 6, 4, 3, 2].map(value));
});

test('what is too short to be redacted, or no secret any more, is not kept', () => {
  const { set, redacted } = world();
  set('short');
  set(value(1));
  set(value(1), true);
  assert.equal(redacted(), []);
});

test('former values get the new master key, and one that is damaged hides no other', () => {
  const { set, unset, redacted, io, paths } = world();
  set(value(1));
  set(value(2));
  unset();
  addMasterKey(paths, {});
  resealSecrets({ io, paths }, 'shop');
  dropOldKeys(paths, {});
  assert.equal(redacted(), [2, 1].map(value));
  const text = readFileSync(paths.secrets('shop'), 'utf8');
  writeFileSync(paths.secrets('shop'), text.replace(/("sealed": ".*)...",/, '$1AAA",'));
  assert.equal(redacted(), [value(1)]);
  resealSecrets({ io, paths }, 'shop');
  set(value(3));
  assert.equal(redacted(), [3, 1].map(value));
});

test('the secrets beside one that is damaged are redacted', () => {
  const { set, io, paths } = world();
  set(value(1));
  const other = { name: 'OTHER', instance: '*', plain: false, value: new Secret(value(2)) };
  setSecrets({ io, paths }, 'shop', [other]);
  const text = readFileSync(paths.secrets('shop'), 'utf8');
  writeFileSync(paths.secrets('shop'), text.replace(/("OTHER"[^}]*"sealed": ".*)...",/, '$1AAA",'));
  const redact = knownRedactor({ paths, env: {} }, 'shop', []);
  assert.is(redact(`log: ${value(1)} ${value(2)}`), `log: [REDACTED] ${value(2)}`);
});

test.run();
