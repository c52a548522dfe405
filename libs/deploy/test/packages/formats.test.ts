/** Lock files as npm, pnpm and yarn write them, and texts that none of them wrote. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LOCK_FILES } from '../../src/packages/formats.ts';

const test = suite('lock files');

const read = (file: string, text: string) =>
  (LOCK_FILES[file] as (text: string) => { name: string }[])(text);

test('npm: nested packages and aliases, without the app, workspaces and links', () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      '': { name: 'shop', version: '1.0.0' },
      'packages/ui': { version: '1.0.0' },
      'node_modules/ui': { resolved: 'packages/ui', link: true },
      'node_modules/a': { version: '1.2.3', resolved: 'https://npm.corp/a/-/a-1.2.3.tgz' },
      'node_modules/a/node_modules/@s/b': { version: '2.0.0-rc.1', hasInstallScript: true },
      'node_modules/alias': { name: 'real', version: '3.0.0' },
      'node_modules/g': { version: '1.0.0', resolved: 'git+ssh://git@git.corp/g.git#abc' },
    },
  };
  const npm = (name: string, version: string, archive?: string | null, script = false) => {
    return { name, version, archive, script };
  };
  assert.equal(read('package-lock.json', JSON.stringify(lock)), [
    npm('a', '1.2.3', 'https://npm.corp/a/-/a-1.2.3.tgz'),
    npm('@s/b', '2.0.0-rc.1', undefined, true),
    npm('real', '3.0.0'),
    npm('g', '1.0.0', null),
  ]);
  assert.throws(() => read('package-lock.json', '{"lockfileVersion": 1}'), /has no packages/);
});

test('pnpm: versions 5, 6 and 9, with what has a script', () => {
  const v9 = `lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      a: {specifier: ^1.0.0, version: 1.0.0}

packages:

  '@s/b@2.0.0':
    resolution: {integrity: sha512-x}

  a@1.0.0:
    resolution: {integrity: sha512-y, tarball: https://npm.corp/a/-/a-1.0.0.tgz}

  c@https://git.corp/c/tar.gz/abc:
    resolution: {tarball: https://git.corp/c/tar.gz/abc}
    version: 1.0.0

  d@file:packages/d:
    resolution: {directory: packages/d, type: directory}

snapshots:

  e@9.9.9: {}
`;
  assert.equal(read('pnpm-lock.yaml', v9), [
    { name: '@s/b', version: '2.0.0', archive: undefined, script: false },
    { name: 'a', version: '1.0.0', archive: 'https://npm.corp/a/-/a-1.0.0.tgz', script: false },
    { name: 'c', version: 'https://git.corp/c/tar.gz/abc', archive: null, script: false },
  ]);
  const v6 = `lockfileVersion: '6.0'
packages:

  /@s/b@2.0.0(react@18.0.0):
    resolution: {integrity: sha512-x}
    requiresBuild: true
    dev: false
`;
  const b = { name: '@s/b', version: '2.0.0', archive: undefined, script: true };
  assert.equal(read('pnpm-lock.yaml', v6), [b]);
  assert.equal(read('pnpm-lock.yaml', v6.replace('@2.0.0(react@18.0.0)', '/2.0.0_react')), [b]);
});

test('pnpm 11 and later: the document of pnpm itself and that of the project', () => {
  const document = (name: string, version: string) =>
    `---\nlockfileVersion: '9.0'\n\npackages:\n\n  ${name}@${version}:\n    resolution: {integrity: sha512-x}\n`;
  const lock = document('pnpm', '12.21.0') + document('is-number', '7.0.0');
  const names = read('pnpm-lock.yaml', lock).map(({ name }) => name);
  assert.equal(names, ['pnpm', 'is-number']);
});

test('yarn: version 1 and later ones', () => {
  const v1 = `# yarn lockfile v1


"@s/b@^2.0.0", "@s/b@^2.1.0":
  version "2.1.0"
  resolved "https://npm.corp/@s/b/-/b-2.1.0.tgz#0123"
  integrity sha512-x
  dependencies:
    version "^9.0.0"

alias@npm:real@^1.0.0:
  version "1.0.0"
`;
  assert.equal(read('yarn.lock', v1), [
    {
      name: '@s/b',
      version: '2.1.0',
      archive: 'https://npm.corp/@s/b/-/b-2.1.0.tgz#0123',
      script: false,
    },
    { name: 'real', version: '1.0.0', archive: undefined, script: false },
  ]);
  const berry = `__metadata:
  version: 8

"a@npm:^1.0.0":
  version: 1.0.0
  resolution: "a@npm:1.0.0"
  linkType: hard

"alias@npm:@s/real@^2":
  version: 2.0.0
  resolution: "@s/real@npm:2.0.0"

"g@https://git.corp/g.git":
  version: 1.0.0
  resolution: "g@https://git.corp/g.git#commit=abc"

"shop@workspace:.":
  version: 0.0.0-use.local
  resolution: "shop@workspace:."
`;
  assert.equal(
    read('yarn.lock', berry).map(({ name }) => name),
    ['a', '@s/real', 'g@https://git.corp/g.git#commit=abc'],
  );
});

test('a name that no registry can have is at none', () => {
  const lock = { packages: { 'node_modules/../../x y': { version: '1.0.0' } } };
  const [first] = read('package-lock.json', JSON.stringify(lock)) as { archive?: unknown }[];
  assert.is(first?.archive, null);
});

test('no text crashes a reader', () => {
  const words = fc.constantFrom(
    ...['packages:', '\n', '  ', "'", '"', '@', ':', '/', 'a', '1.0.0', 'lockfileVersion: 9\n'],
    ...[
      '# yarn lockfile v1\n',
      '__metadata:\n',
      'resolution: ',
      '__proto__',
      '{',
      '}',
      '(',
      'npm:',
    ],
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(words, { maxLength: 40 }).map((all) => all.join('')),
    fc.json(),
    fc.jsonValue().map((packages) => JSON.stringify({ packages })),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(...Object.keys(LOCK_FILES)), (text, file) => {
      try {
        for (const { name } of read(file, text)) assert.type(name, 'string');
      } catch (error) {
        assert.ok(
          error instanceof SyntaxError || /^it /.test((error as Error).message),
          `${error}`,
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('a reader is not slow on a long line', () => {
  const long = 'a@'.repeat(200_000);
  for (const [file, text] of [
    ['pnpm-lock.yaml', `lockfileVersion: 9\npackages:\n  ${long}:\n    requiresBuild: true\n`],
    ['yarn.lock', `# yarn lockfile v1\n${long}:\n  version "${long}"\n`],
  ] as const) {
    const start = performance.now();
    read(file, text);
    assert.ok(performance.now() - start < 2_000, file);
  }
});

test("a long line without a value ends no one's patience", () => {
  const begin = Date.now();
  const spaces = ' '.repeat(1_000_000);
  const text = `# yarn lockfile v1\n\na@^1:\n  version${spaces}"x"y\n`;
  assert.equal(read('yarn.lock', text), [{ name: 'a', version: '', archive: null, script: false }]);
  assert.ok(Date.now() - begin < 5_000, `${Date.now() - begin} ms`);
});

test.run();
