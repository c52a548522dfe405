import { mkdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { createApp, findApp, requireApp, writeApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';
import { freshRoot, plant } from '../files/scratch.ts';

const VERSION = {
  version: 'v1',
  commit: 'c'.repeat(40),
  release: '20260101T000000-cccccccccccc',
  deployed_at: '2026-01-01T00:00:00.000Z',
  deploy_id: '3f9a21c0',
};

function app(name: string, more: Partial<AppState> = {}): AppState {
  return {
    version: 1,
    app: name,
    repo: 'o/r',
    branch: 'main',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    state: { repohost_token: null },
    instances: {},
    failures: null,
    held: null,
    deploying: null,
    last_checked: null,
    ...more,
  };
}

test('the least that a state file must hold is repository and branch', () => {
  const paths = freshRoot();
  plant(paths.state('blog'), '{"repo":"o/r","branch":"main"}');
  assert.equal(
    requireApp(paths, 'blog'),
    app('blog', { created_at: '', updated_at: '', state: {} }),
  );
});

test('an app is registered once', () => {
  const paths = freshRoot();
  createApp(paths, app('blog'));
  const again = "app_exists: an app called 'blog' is registered already";
  assert.is(
    told(() => createApp(paths, app('blog', { repo: 'x/y' }))),
    again,
  );
  assert.is(requireApp(paths, 'blog').repo, 'o/r');
  plant(paths.state('broken'), '{');
  assert.match(
    told(() => createApp(paths, app('broken'))),
    /^app_exists: /,
  );
});

const BAD: readonly (readonly [text: string, why: string])[] = [
  ['', 'is not JSON'],
  ['{', 'is not JSON'],
  ['{"repo":"o/r","branch":"main"}x', 'is not JSON'],
  ['null', 'is not an object'],
  ['[]', 'is not an object'],
  ['"text"', 'is not an object'],
  ['{}', 'has no text in repo'],
  ['{"repo":"o/r"}', 'has no text in branch'],
  ['{"repo":1,"branch":"main"}', 'has no text in repo'],
  ['{"repo":"o/r","branch":["main"]}', 'has no text in branch'],
  ['{"app":"shop","repo":"o/r","branch":"main"}', 'names another app'],
  ['{"app":1,"repo":"o/r","branch":"main"}', 'names another app'],
  ['{"repo":"o/r","branch":"main","state":[]}', 'has no section state'],
  ['{"repo":"o/r","branch":"main","state":"x"}', 'has no section state'],
  ['{"repo":"o/r","branch":"main","state":{"repohost_token":5}}', 'has a token that is not a text'],
  ['{"repo":"o/r","branch":"main","instances":[]}', 'has no section instances'],
  ...[
    'null',
    '5',
    '[]',
    '{"previous":{}}',
    '{"current":5}',
    '{"current":{}}',
    '{"current":{"version":"v","commit":"c","release":7}}',
    '{"current":{"version":"v","commit":"c","release":"../../etc"}}',
    '{"current":{"version":"v","commit":"c","release":"a/b"}}',
    '{"current":{"version":"v","commit":"c","release":""}}',
    '{"current":{"version":"v","commit":"c","release":"-x"}}',
    '{"previous":[5]}',
    '{"previous":[null]}',
    '{"previous":[{"version":"v","commit":"c","release":".."}]}',
  ].map(
    (text) =>
      [
        `{"repo":"o/r","branch":"main","instances":{"eu":${text}}}`,
        'has a malformed instance',
      ] as const,
  ),
  ...['failures', 'held', 'deploying', 'traffic_hold'].flatMap((field) =>
    ['5', '[]', '{}', '{"commit":1}'].map(
      (text) =>
        [`{"repo":"o/r","branch":"main","${field}":${text}}`, 'has a malformed section'] as const,
    ),
  ),
  ...[
    '"traffic_hold":{"since":"t","by":"a","until":"t"}',
    '"stopped":{"since":"t","by":"a","instances":[1]}',
    '"stopped":{"since":"t","by":"a","instances":[],"reason":true}',
    '"paused":{"since":"t","by":"a","until":[3],"reason":null}',
    '"previews":{"check_failed":3}',
    `"migrations":[${JSON.stringify({ ...VERSION, at: 't', verdict: 'safe', reasons: [null] })}]`,
    '"previews":{"waiting":[{"key":1}]}',
  ].map((text) => [`{"repo":"o/r","branch":"main",${text}}`, 'has a malformed section'] as const),
];

for (const [text, why] of BAD) {
  test(`a state file with \`${text}\` is malformed`, () => {
    const paths = freshRoot();
    plant(paths.state('blog'), text);
    assert.is(
      told(() => findApp(paths, 'blog')),
      `state_malformed: the state file ${paths.state('blog')} ${why}`,
    );
  });
}

test('a state file of a newer version is unsupported, not malformed', () => {
  const paths = freshRoot();
  for (const version of ['3', '"1"', 'null', '0']) {
    plant(paths.state('blog'), `{"version":${version},"whatever":true}`);
    assert.is(
      told(() => findApp(paths, 'blog')),
      `state_unsupported: the state file ${paths.state('blog')} was written by a newer runner`,
    );
  }
});

test('only small regular files are read', () => {
  const paths = freshRoot();
  plant(join(paths.stateDir, 'target'), '{"repo":"o/r","branch":"main"}');
  symlinkSync('target', paths.state('link'));
  mkdirSync(paths.state('folder'));
  plant(paths.state('huge'), '');
  truncateSync(paths.state('huge'), 67_108_865);
  for (const name of ['link', 'folder', 'huge']) {
    assert.match(
      told(() => findApp(paths, name)),
      /^file_unreadable: /,
    );
  }
});

test('an app can keep a thousand releases with the fingerprints of thirty secrets', () => {
  const paths = freshRoot();
  const names = Array.from({ length: 30 }, (_, at) => [`KEY_${at}`, 'ev_0123456789ab']);
  const previous = Array.from({ length: 1000 }, (_, sequence) => {
    return { ...VERSION, sequence, secrets: Object.fromEntries(names) };
  });
  createApp(paths, app('shop', { instances: { default: { current: VERSION, previous } } }));
  assert.equal(requireApp(paths, 'shop').instances.default?.previous, previous);
});

test('a refusal does not quote the file, which holds a token', () => {
  const paths = freshRoot();
  plant(
    paths.state('blog'),
    '{"repo":"o/r","branch":"main","state":{"repohost_token":"Zq7secret" ]}',
  );
  assert.not.match(
    told(() => findApp(paths, 'blog')),
    /Zq7secret/,
  );
});

test('any state file is accepted, or refused as malformed or unsupported', () => {
  const paths = freshRoot();
  const names = [
    'version',
    'app',
    'repo',
    'branch',
    'state',
    'instances',
    'failures',
    'held',
    'deploying',
    'current',
    'previous',
    '__proto__',
  ];
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(null, true, 1, 'blog', 'o/r', ''),
      fc.array(tie('node'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom(...names), tie('node'), { maxKeys: 5 }),
    ),
  })).node;
  const state = fc
    .dictionary(fc.constantFrom(...names), value)
    .map((fields) => ({ repo: 'o/r', branch: 'main', ...fields }));
  fc.assert(
    fc.property(fc.oneof(state, value), (each) => {
      plant(paths.state('blog'), JSON.stringify(each));
      try {
        findApp(paths, 'blog');
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        assert.ok(['state_malformed', 'state_unsupported'].includes(error.code), error.code);
      }
    }),
    { numRuns: 300 },
  );
});

test('a counter that is not a number is refused, not read as zero', () => {
  const paths = freshRoot();
  const failures = '{"commit": "c", "count": 1e999, "last_at": "t", "stage": "build"}';
  plant(paths.state('blog'), `{"repo": "o/r", "branch": "main", "failures": ${failures}}`);
  assert.is(
    told(() => requireApp(paths, 'blog')),
    `state_malformed: the state file ${paths.state('blog')} has a malformed section`,
  );
});

test('what a version brought is left out if it is damaged', () => {
  const paths = freshRoot();
  const good = { count: 1, subjects: ['one'], authors: ['ada'], young_packages: ['a@1'] };
  const readBack = (changes: unknown) => {
    const instances = { default: { current: { ...VERSION, changes }, previous: [] } };
    plant(paths.state('shop'), JSON.stringify({ ...app('shop'), instances }));
    return requireApp(paths, 'shop').instances.default?.current?.changes;
  };
  assert.equal(readBack(good), good);
  assert.equal(readBack({ ...good, count: null }), { ...good, count: null });
  const bad = [7, 'x', [], {}, { ...good, count: 'two' }, { ...good, subjects: null }];
  for (const changes of [...bad, { ...good, authors: [{}] }, { ...good, young_packages: 5 }])
    assert.is(readBack(changes), undefined, JSON.stringify(changes));
});

test('a rewrite keeps unknown fields with any JSON value', () => {
  const paths = freshRoot();
  createApp(paths, app('blog'));
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const other = JSON.parse(JSON.stringify(value)) as unknown;
      writeApp(paths, app('blog', { other }));
      writeApp(paths, requireApp(paths, 'blog'));
      const written = JSON.parse(readFileSync(paths.state('blog'), 'utf8')) as { other: unknown };
      assert.equal(written.other, other);
    }),
    { numRuns: 200 },
  );
});

test.run();
