import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const folder = mkdtempSync(join(tmpdir(), 'lockfile-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

const PIN = `{integrity: sha512-${'a'.repeat(86)}==}`;

/** A lockfile in which `mri` is what an executable holds, and needs `dep`. */
const lockfile = (more = '', mri = PIN) => `lockfileVersion: '9.0'

catalogs:
  default:
    mri:
      specifier: 1.2.0
      version: 1.2.0

packages:

  '@scope/dev@1.0.0':
    resolution: ${PIN}

  dep@2.0.0:
    resolution: ${PIN}

  mri@1.2.0:
    resolution: ${mri}

snapshots:

  '@scope/dev@1.0.0': {}

  dep@2.0.0: {}

  mri@1.2.0:
    dependencies:
      dep: 2.0.0
${more}`;

const manifest = (license: string) => JSON.stringify({ license });
const modules = 'node_modules/.pnpm';

/** Lints a checkout with these files beside a sound lockfile; the status and the lines told. */
function lint(files: Record<string, string> = {}) {
  number += 1;
  const root = join(folder, String(number));
  const all = {
    'package.json': '{}',
    'pnpm-lock.yaml': lockfile(),
    'libs/common/package.json': '{"dependencies": {"mri": "catalog:"}}',
    [`${modules}/mri@1.2.0/node_modules/mri/package.json`]: manifest('MIT'),
    [`${modules}/dep@2.0.0/node_modules/dep/package.json`]: manifest('ISC'),
    ...files,
  };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const script = join(process.cwd(), 'scripts/lint/lockfile.mjs');
  const end = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { status: end.status, lines: end.stdout.trimEnd().split('\n') };
}

test('packages that are pinned and may be given on pass', () => {
  const last = 'lockfile: 3 packages, 2 at run time, 0 problems';
  assert.equal(lint(), { status: 0, lines: [last] });
});

for (const [what, files, sentence] of [
  [
    'a package without its sha512',
    { 'pnpm-lock.yaml': lockfile('', '{integrity: sha1-abc=}') },
    'pnpm-lock.yaml:17: mri@1.2.0 is not pinned by its sha512 alone',
  ],
  [
    'a package from an address',
    { 'pnpm-lock.yaml': lockfile('', `${PIN.slice(0, -1)}, tarball: x}`) },
    'pnpm-lock.yaml:18: names an address: tarball:',
  ],
  [
    'the host of a registry',
    { 'pnpm-lock.yaml': lockfile('  # https://registry.example\n') },
    'pnpm-lock.yaml:29: names an address: https://',
  ],
  [
    'an override in the workspace',
    { 'pnpm-workspace.yaml': 'packages: []\noverrides:\n  mri: 1.0.0\n' },
    'pnpm-workspace.yaml:2: overrides are not allowed',
  ],
  [
    'an override in the manifest',
    { 'package.json': '{"pnpm": {}}' },
    'package.json:1: pnpm is not allowed',
  ],
  [
    'a licence that asks for more, of what is needed indirectly',
    { [`${modules}/dep@2.0.0/node_modules/dep/package.json`]: manifest('GPL-3.0-only') },
    'dep@2.0.0: its licence GPL-3.0-only is not in the list',
  ],
] as const) {
  test(`${what} is refused`, () => {
    const { status, lines } = lint(files);
    assert.is(status, 1);
    assert.ok(lines.includes(sentence), lines.join('\n'));
  });
}

test('a lockfile that is not there is no lockfile without problems', () => {
  assert.is(lint({ 'pnpm-lock.yaml': '' }).status, 1);
});

test.run();
