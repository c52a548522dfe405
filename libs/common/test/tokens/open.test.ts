import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createApp, requireApp, writeApp } from '@runner/common/apps/store';
import type { Paths } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import {
  addMasterKey,
  createKeyring,
  dropOldKeys,
  requireKeyring,
} from '@runner/common/tokens/keyring';
import { openToken } from '@runner/common/tokens/open';
import { open, seal } from '@runner/common/tokens/vault';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { freshRoot } from '../files/scratch.ts';

const TOKEN = 'plain-Token/with+odd=signs.0123456789';

function withApp(token: string | undefined): Paths {
  const paths = freshRoot();
  const keyring = createKeyring(paths, {});
  createApp(paths, {
    version: 1,
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    created_at: 'then',
    updated_at: 'then',
    state: token === undefined ? {} : { repohost_token: seal(new Secret(token), 'shop', keyring) },
    instances: {},
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
  });
  return paths;
}

/** What `tokens rekey` does to the only app, all of it. */
function rekey(paths: Paths): void {
  const keyring = addMasterKey(paths, {});
  const app = requireApp(paths, 'shop');
  const token = open(app.state.repohost_token ?? '', 'shop', keyring);
  writeApp(paths, { ...app, state: { repohost_token: seal(token, 'shop', keyring) } });
  dropOldKeys(paths, {});
}

/** An environment that does something when the key is looked for: after the state was read. */
function meanwhile(...deeds: (() => void)[]): Record<string, string | undefined> {
  return {
    get RUNNER_MKEY_FILE() {
      deeds.shift()?.();
      return undefined;
    },
  };
}

test('the token of an app is decrypted; an app without one has none', () => {
  assert.is(openToken(withApp(TOKEN), {}, 'shop')?.reveal(), TOKEN);
  assert.is(openToken(withApp(undefined), {}, 'shop'), undefined);
});

test('null and an empty string are not tokens, with or without a key', () => {
  const paths = withApp(TOKEN);
  rmSync(paths.mkey);
  for (const repohost_token of [null, '']) {
    writeApp(paths, { ...requireApp(paths, 'shop'), state: { repohost_token } });
    assert.is(openToken(paths, {}, 'shop'), undefined);
  }
});

test('an unknown app is reported, even under an invalid name', () => {
  const paths = withApp(TOKEN);
  for (const name of ['nope', '../shop', '__proto__']) {
    assert.is(
      told(() => openToken(paths, {}, name)),
      `app_not_found: no app called '${name}' is registered on this server; registered: shop`,
    );
  }
});

test('a rekey between reading the state and reading the key is not noticed', () => {
  const paths = withApp(TOKEN);
  assert.is(
    openToken(
      paths,
      meanwhile(() => rekey(paths)),
      'shop',
    )?.reveal(),
    TOKEN,
  );
});

test('nor is a second one', () => {
  const paths = withApp(TOKEN);
  const env = meanwhile(
    () => rekey(paths),
    () => rekey(paths),
    () => rekey(paths),
  );
  assert.is(openToken(paths, env, 'shop')?.reveal(), TOKEN);
});

test('a token removed meanwhile is none; an app removed meanwhile is unknown', () => {
  const gone = withApp(TOKEN);
  const forget = () => {
    rekey(gone);
    writeApp(gone, { ...requireApp(gone, 'shop'), state: {} });
  };
  assert.is(openToken(gone, meanwhile(forget), 'shop'), undefined);
  const removed = withApp(TOKEN);
  const remove = () => {
    rekey(removed);
    rmSync(removed.state('shop'));
  };
  assert.match(
    told(() => openToken(removed, meanwhile(remove), 'shop')),
    /^app_not_found: /,
  );
});

test('a missing key is reported after a second look', () => {
  const paths = withApp(TOKEN);
  const keys = readFileSync(paths.mkey);
  rmSync(paths.mkey);
  createKeyring(paths, {});
  assert.match(
    told(() => openToken(paths, {}, 'shop')),
    /^mkey_unknown: .*'shop'/,
  );
  renameSync(paths.mkey, `${paths.mkey}.other`);
  assert.match(
    told(() => openToken(paths, {}, 'shop')),
    /^mkey_missing: /,
  );
  writeFileSync(paths.mkey, keys, { mode: 0o600 });
  assert.is(openToken(paths, {}, 'shop')?.reveal(), TOKEN);
  assert.is(requireKeyring(paths, {}).length, 1);
});

test.run();
