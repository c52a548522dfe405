import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const folder = mkdtempSync(join(tmpdir(), 'imports-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
let number = 0;

/** Lints a checkout that holds the given files; gives the status and the problems told. */
function lint(files: Record<string, string>) {
  number += 1;
  const root = join(folder, String(number));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const script = join(process.cwd(), 'scripts/lint-imports.mjs');
  const end = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  const lines = end.stdout.trimEnd().split('\n');
  return { status: end.status, problems: lines.slice(0, -1), last: lines.at(-1) };
}

const failure = { 'libs/common/src/failure.ts': 'export class Failure extends Error {}\n' };
const io = {
  'libs/common/src/io.ts': "import { Failure } from './failure.ts';\nexport { Failure };\n",
};

test('a house in order passes', () => {
  const { status, problems, last } = lint({
    ...failure,
    ...io,
    'libs/common/src/http.ts': "import { request } from 'undici';\nimport { x } from './io.ts';\n",
    'libs/common/src/error-extract/a.ts': "import type { B } from './b.ts';\n",
    'libs/common/src/error-extract/b.ts': "import { readFileSync } from 'node:fs';\n",
    'libs/common/src/error-extract.ts': "import { a } from './error-extract/a.ts';\n",
    'libs/deploy/src/steps.ts': "import { Failure } from '@runner/common/failure';\n",
    'tools/runner-add/src/main.ts': [
      "import { Failure } from '@runner/common/failure';",
      "const add = () => import('./commands/add.ts');",
    ].join('\n'),
    'tools/runner-add/src/commands/add.ts': "import { steps } from '@runner/deploy/steps';\n",
    'tools/runner-add/test/add.test.ts': "import { x } from '../../runner-list/src/x.ts';\n",
  });
  assert.equal(problems, []);
  assert.is(status, 0);
  assert.is(last, 'imports: 9 files, 0 problems');
});

/** What is wrong, the file that is wrong, its text, and the sentence that is to be told. */
const bad: [string, string, string, string][] = [
  [
    'a library that imports a tool',
    'libs/deploy/src/x.ts',
    "import { a } from '../../../tools/runner-add/src/a.ts';",
    'libs/deploy/src/x.ts:1: tools/runner-add is another tool: a library never imports a tool',
  ],
  [
    'a tool that imports another by its path',
    'tools/runner-list/src/main.ts',
    "\nimport { a } from '../../runner-add/src/a.ts';",
    'tools/runner-list/src/main.ts:2: tools/runner-add is another tool: run it instead',
  ],
  [
    'a tool that imports another by its name',
    'tools/runner-list/src/main.ts',
    "import { a } from 'runner-add/src/a.ts';",
    'tools/runner-list/src/main.ts:1: runner-add is another tool: run it instead',
  ],
  [
    'libs/common importing one of ours',
    'libs/common/src/http.ts',
    "import { a } from '@runner/deploy/a';",
    'libs/common/src/http.ts:1: libs/common imports none of ours, and libs/deploy is ours',
  ],
  [
    'an import down the order of libs/common',
    'libs/common/src/secret.ts',
    "import { a } from './http.ts';",
    'libs/common/src/secret.ts:1: libs/common/src/http.ts stands above it in the order of libs/common',
  ],
  [
    'a type imported down the order of libs/common',
    'libs/common/src/secret.ts',
    "import type {\n  A,\n  B,\n} from './http.ts';",
    'libs/common/src/secret.ts:4: libs/common/src/http.ts stands above it in the order of libs/common',
  ],
  [
    'a lazy import down the order of libs/common',
    'libs/common/src/secret.ts',
    "export const load = () => import('./http.ts');",
    'libs/common/src/secret.ts:1: libs/common/src/http.ts stands above it in the order of libs/common',
  ],
  [
    'a type named by an import expression down the order of libs/common',
    'libs/common/src/secret.ts',
    "export type A = import('./http.ts').A;",
    'libs/common/src/secret.ts:1: libs/common/src/http.ts stands above it in the order of libs/common',
  ],
  [
    'a part of a module that imports the module',
    'libs/common/src/error-extract/a.ts',
    "export * from '../error-extract.ts';",
    'libs/common/src/error-extract/a.ts:1: libs/common/src/error-extract.ts stands above it in the order of libs/common',
  ],
  [
    'a module of libs/common without a place',
    'libs/common/src/novelty.ts',
    'export const a = 1;',
    'libs/common/src/novelty.ts:1: has no place in the order of libs/common: scripts/import-rule.mjs',
  ],
  [
    'a package imported by another than its owner',
    'libs/common/src/secret.ts',
    "import { request } from 'undici';",
    'libs/common/src/secret.ts:1: undici is imported in libs/common/src/http.ts alone',
  ],
  [
    'a part of a package imported by another than its owner',
    'tools/runner-add/src/main.ts',
    "import { x } from 'yaml/util';",
    'tools/runner-add/src/main.ts:1: yaml is imported in libs/common/src/yaml-reading.ts and libs/common/src/config-edit.ts and libs/common/src/output.ts alone',
  ],
  [
    'a package that nobody owns',
    'tools/runner-add/src/main.ts',
    "import leftPad from 'left-pad';",
    'tools/runner-add/src/main.ts:1: left-pad has no owner: name one in scripts/import-rule.mjs',
  ],
  [
    'a built-in module without node:',
    'tools/runner-add/src/main.ts',
    "import { readFileSync } from 'fs';",
    'tools/runner-add/src/main.ts:1: write node:fs',
  ],
  [
    'a relative import without its extension',
    'tools/runner-add/src/main.ts',
    "import { a } from './a';",
    'tools/runner-add/src/main.ts:1: ./a needs its extension .ts',
  ],
  [
    'a relative import of a library',
    'tools/runner-add/src/main.ts',
    "import { a } from '../../../libs/deploy/src/a.ts';",
    'tools/runner-add/src/main.ts:1: write @runner/deploy/a',
  ],
  [
    'a missing file',
    'tools/runner-add/src/main.ts',
    "import { a } from '@runner/deploy/missing';",
    'tools/runner-add/src/main.ts:1: libs/deploy/src/missing.ts does not exist',
  ],
  [
    'the product importing what is for tests',
    'tools/runner-add/src/main.ts',
    "import { a } from '@runner/testing/a';",
    'tools/runner-add/src/main.ts:1: libs/testing is for tests alone',
  ],
  [
    'the product importing a test',
    'tools/runner-add/src/main.ts',
    "import { a } from '../test/a.ts';",
    'tools/runner-add/src/main.ts:1: tools/runner-add/test/a.ts is not a source of the product',
  ],
];

for (const [what, file, text, sentence] of bad) {
  test(`refuses ${what}`, () => {
    const { status, problems } = lint({
      ...failure,
      'libs/common/src/http.ts': 'export const a = 1;\n',
      'libs/common/src/error-extract.ts': 'export const a = 1;\n',
      'libs/deploy/src/a.ts': 'export const a = 1;\n',
      'libs/testing/src/a.ts': 'export const a = 1;\n',
      'tools/runner-add/src/a.ts': 'export const a = 1;\n',
      'tools/runner-add/test/a.ts': 'export const a = 1;\n',
      [file]: `${text}\n`,
    });
    assert.equal(problems, [sentence]);
    assert.is(status, 1);
  });
}

test('refuses a cycle, of types too, and names all of it', () => {
  const { status, problems } = lint({
    'tools/runner-add/src/a.ts': "import { b } from './b.ts';\n",
    'tools/runner-add/src/b.ts': "import type { C } from './c.ts';\n",
    'tools/runner-add/src/c.ts': "export const a = () => import('./a.ts');\n",
  });
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `tools/runner-add/src/${name}.ts`);
  assert.equal(problems, [`${a}:1: a cycle of imports: ${a} -> ${b} -> ${c} -> ${a}`]);
  assert.is(status, 1);
});

test.run();
