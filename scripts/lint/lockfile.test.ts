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

const lockfile = (mri = PIN, more = '') => `lockfileVersion: '9.0'

packages:

  '@scope/dev@1.0.0':
    resolution: ${PIN}

  mri@1.2.0:
    resolution: ${mri}
${more}`;

/** Lints a checkout with these files beside a sound lockfile; the status and the lines told. */
function lint(files: Record<string, string> = {}) {
  number += 1;
  const root = join(folder, String(number));
  const all = {
    'package.json': '{}',
    'pnpm-lock.yaml': lockfile(),
    'pnpm-workspace.yaml': 'packages: []\n',
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

test('packages that are pinned pass', () => {
  assert.equal(lint(), { status: 0, lines: ['lockfile: 2 packages, 0 problems'] });
});

for (const [what, files, sentence] of [
  [
    'a package without its sha512',
    { 'pnpm-lock.yaml': lockfile('{integrity: sha1-abc=}') },
    'pnpm-lock.yaml: mri@1.2.0 is not pinned by its sha512 alone',
  ],
  [
    'a package from an address',
    { 'pnpm-lock.yaml': lockfile(`${PIN.slice(0, -1)}, tarball: x}`) },
    'pnpm-lock.yaml: mri@1.2.0 is not pinned by its sha512 alone',
  ],
  [
    'a package that is not a version of the registry',
    { 'pnpm-lock.yaml': lockfile(PIN, `  x@https://host.example/x:\n    resolution: ${PIN}\n`) },
    'pnpm-lock.yaml: x@https://host.example/x is not pinned by its sha512 alone',
  ],
  [
    'an override in the workspace',
    { 'pnpm-workspace.yaml': 'packages: []\noverrides:\n  mri: 1.0.0\n' },
    'pnpm-workspace.yaml: overrides is not allowed',
  ],
  [
    'an override in the manifest',
    { 'package.json': '{"pnpm": {}}' },
    'package.json: pnpm is not allowed',
  ],
] as const) {
  test(`${what} is refused`, () => {
    const { status, lines } = lint(files);
    assert.is(status, 1);
    assert.ok(lines.includes(sentence), lines.join('\n'));
  });
}

test('an empty lockfile is a problem', () => {
  assert.is(lint({ 'pnpm-lock.yaml': '' }).status, 1);
});

test('a licence that asks for more than a notice stops the build', () => {
  const file = 'libs/common/node_modules/dep/package.json';
  lint({ [file]: JSON.stringify({ name: 'dep', license: 'GPL-3.0-only' }) });
  const module = join(process.cwd(), 'scripts/bundle/packages.mjs');
  const script = `import { packagesOf } from '${module}'; packagesOf(['${file}'], process.argv[1]);`;
  const args = ['--input-type=module', '--eval', script, join(folder, String(number))];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.match(stderr, 'dep: GPL-3.0-only is not in LICENCES');
});

test.run();
