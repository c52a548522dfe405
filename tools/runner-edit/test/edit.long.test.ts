import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  algorithmOf,
  contentOf,
  edit,
  fingerprint,
  NEW,
  newRoot,
  plantState,
  stateOf,
  TOKEN,
  tokenOf,
} from './root.ts';

test('a new token can be that of another app, which stderr names by its fingerprint', async () => {
  const root = await newRoot();
  await edit(root, ['shop', '--token', '-'], { stdin: NEW });
  for (const app of ['open', 'shop']) {
    const { status, stdout, stderr } = await edit(root, [app, '--token-from', 'shop']);
    assert.equal(
      [status, stdout, stderr],
      [
        0,
        `Changed ${app} (acme/${app}, branch main, token ${fingerprint(NEW)})\n`,
        `Reusing token ${fingerprint(NEW)} from shop\n`,
      ],
    );
    assert.is(tokenOf(root, app), NEW);
  }
});

test('a state is valid for 0.1.0 again once newer fields are gone, but not with secrets', async () => {
  const root = await newRoot();
  for (const app of ['shop', 'blog']) {
    await edit(root, [app, '--tags', 'v*', '--paths', 'apps']);
    assert.is(stateOf(root, app).version, 2);
  }
  const set = ['set', 'blog', 'NAME', '--file', '-'];
  assert.is((await run('runner-env', set, { root, stdin: 'value' })).status, 0);
  for (const [app, version] of [
    ['shop', 1],
    ['blog', 2],
  ] as const) {
    await edit(root, [app, '--branch', 'main', '--paths', '']);
    assert.is(stateOf(root, app).version, version);
  }
});

test('RUNNER_TOKEN alone changes no token', async () => {
  const root = await newRoot();
  const env = { RUNNER_TOKEN: NEW };
  assert.is((await edit(root, ['shop', '--branch', 'next'], { env })).status, 0);
  assert.is(tokenOf(root, 'shop'), TOKEN);
  assert.is((await edit(root, ['open', '--branch', 'next'], { env })).status, 0);
  assert.is(tokenOf(root, 'open'), undefined);
  const { status, stderr } = await edit(root, ['shop'], { env });
  assert.equal([status, stderr.startsWith('error: the following required arguments')], [2, true]);
});

test('unknown fields and deployed versions survive', async () => {
  const root = await newRoot();
  const version = {
    version: 'v1',
    commit: 'c',
    release: 'r',
    deployed_at: 't',
    deploy_id: 'd',
    x: 1,
  };
  const more = {
    later: { deep: [1, { er: null }] },
    instances: { default: { current: version, previous: [], y: true } },
    failures: { commit: 'c', count: 2, last_at: 't', stage: 'build' },
    held: { commit: 'h', since: 't', reason: 'rollback' },
  };
  plantState(root, 'shop', more);
  const before = stateOf(root, 'shop');
  await edit(root, ['shop', '--token', '-', '--branch', 'next'], { stdin: NEW });
  const after = stateOf(root, 'shop');
  const changed = { state: null, branch: null, updated_at: null };
  assert.equal({ ...after, ...changed }, { ...before, ...changed });
  assert.ok(String(after.updated_at) > String(before.updated_at));
});

test('JSON and YAML hold the same, and null in place of a fingerprint', async () => {
  const root = await newRoot();
  const json = await edit(root, ['shop', '--token', '-', '--json'], { stdin: NEW });
  const answer = {
    app: 'shop',
    repo: 'acme/shop',
    branch: 'main',
    require_signed: null,
    deploy_file: null,
    fingerprint: fingerprint(NEW),
  };
  assert.equal([json.status, json.stdout, json.stderr], [0, `${JSON.stringify(answer)}\n`, '']);
  const yaml = await edit(root, ['shop', '--branch', 'next', '-o', 'yaml']);
  assert.is(
    yaml.stdout,
    'app: shop\nrepo: acme/shop\nbranch: next\nrequire_signed: null\ndeploy_file: null\nfingerprint: null\n',
  );
});

test('the first token of a root makes its master key', async () => {
  const root = join(temporaryFolder('edit'), 'root');
  await run('runner-add', ['--repo', 'acme/open', '--branch', 'main', '--public'], { root });
  assert.not.ok('mkey' in contentOf(root));
  assert.is((await edit(root, ['open', '--token', '-'], { stdin: NEW })).status, 0);
  assert.match(contentOf(root).mkey ?? '', /^0600 [A-Za-z0-9_-]{43}\n$/);
  assert.is(tokenOf(root, 'open'), NEW);
});

test('when the master key is lost for good, tokens are removed and set again', async () => {
  const root = await newRoot();
  rmSync(join(root, 'mkey'));
  assert.is((await edit(root, ['shop', '--public'])).status, 0);
  assert.is((await edit(root, ['shop', '--token', '-'], { stdin: NEW })).status, 1);
  assert.is((await edit(root, ['blog', '--public'])).status, 0);
  assert.is((await edit(root, ['shop', '--token', '-'], { stdin: NEW })).status, 0);
  assert.is((await edit(root, ['blog', '--token-from', 'shop'])).status, 0);
  assert.equal([tokenOf(root, 'shop'), tokenOf(root, 'blog')], [NEW, NEW]);
});

test('edits of one app at the same time are all made', async () => {
  const root = await newRoot();
  const ended = await Promise.all([
    edit(root, ['shop', '--token', '-'], { stdin: NEW }),
    edit(root, ['shop', '--branch', 'next']),
    edit(root, ['shop', '--repo', 'other/store']),
  ]);
  assert.equal(
    ended.map(({ status, stderr }) => [status, stderr]),
    [
      [0, ''],
      [0, ''],
      [0, ''],
    ],
  );
  const { repo, branch } = stateOf(root, 'shop');
  assert.equal([repo, branch, tokenOf(root, 'shop')], ['other/store', 'next', NEW]);
});

test('an app that had the second layer keeps it, and --ckey gives it', async () => {
  const root = await newRoot();
  assert.equal([algorithmOf(root, 'blog'), algorithmOf(root, 'shop')], ['A256GCMKW', 'dir']);
  await edit(root, ['blog', '--token', '-'], { stdin: NEW });
  await edit(root, ['shop', '--token', '-'], { stdin: NEW });
  assert.equal([algorithmOf(root, 'blog'), algorithmOf(root, 'shop')], ['A256GCMKW', 'dir']);
  await edit(root, ['shop', '--token-from', 'shop', '--ckey']);
  await edit(root, ['open', '--token', '-', '--ckey'], { stdin: NEW });
  assert.equal([algorithmOf(root, 'open'), algorithmOf(root, 'shop')], ['A256GCMKW', 'A256GCMKW']);
  assert.equal(
    [tokenOf(root, 'blog'), tokenOf(root, 'shop'), tokenOf(root, 'open')],
    [NEW, NEW, NEW],
  );
});

test.run();
