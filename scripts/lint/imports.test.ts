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
  const script = join(process.cwd(), 'scripts/lint/imports.mjs');
  const end = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  const lines = end.stdout.trimEnd().split('\n');
  return { status: end.status, problems: lines.slice(0, -1), last: lines.at(-1) };
}

const failure = {
  'libs/common/src/foundation/failure.ts': 'export class Failure extends Error {}\n',
};
const io = {
  'libs/common/src/foundation/io.ts':
    "import { Failure } from './failure.ts';\nexport { Failure };\n",
};

test('a house in order passes', () => {
  const { status, problems, last } = lint({
    ...failure,
    ...io,
    'libs/common/src/http/request.ts':
      "import { request } from 'undici';\nimport { x } from '../foundation/io.ts';\n",
    'libs/extract/src/line/a.ts': "import type { B } from './b.ts';\n",
    'libs/extract/src/line/b.ts': "import { readFileSync } from 'node:fs';\n",
    'libs/extract/src/extract.ts': "import { a } from './line/a.ts';\n",
    'libs/deploy/src/run/steps.ts':
      "import { Failure } from '@runner/common/foundation/failure';\n",
    'tools/runner-add/src/main.ts': [
      "import { Failure } from '@runner/common/foundation/failure';",
      "const add = () => import('./commands/add.ts');",
    ].join('\n'),
    'tools/runner-add/src/commands/add.ts': "import { steps } from '@runner/deploy/run/steps';\n",
    'tools/runner-add/test/add.test.ts': "import { x } from '../../runner-list/src/x.ts';\n",
  });
  assert.equal(problems, []);
  assert.is(status, 0);
  assert.is(last, 'imports: 9 files, 0 problems');
});

/** What is wrong, the file that is wrong, its text, and the expected sentence. */
const bad: [string, string, string, string][] = [
  [
    'a library that imports a tool',
    'libs/deploy/src/run/x.ts',
    "import { a } from '../../../../tools/runner-add/src/a.ts';",
    'libs/deploy/src/run/x.ts:1: tools/runner-add is another tool: a library never imports a tool',
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
    'a library that imports one that stands above it',
    'libs/common/src/http/request.ts',
    "import { a } from '@runner/deploy/run/a';",
    'libs/common/src/http/request.ts:1: libs/common does not import libs/deploy: scripts/lint/rooms.mjs',
  ],
  [
    'an import from a folder that stands after it',
    'libs/common/src/secrets/secret.ts',
    "import { a } from '../http/request.ts';",
    'libs/common/src/secrets/secret.ts:1: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a type imported from a folder that stands after it',
    'libs/common/src/secrets/secret.ts',
    "import type {\n  A,\n  B,\n} from '../http/request.ts';",
    'libs/common/src/secrets/secret.ts:4: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a lazy import from a folder that stands after it',
    'libs/common/src/secrets/secret.ts',
    "export const load = () => import('../http/request.ts');",
    'libs/common/src/secrets/secret.ts:1: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a type named by an import expression from a folder that stands after it',
    'libs/common/src/secrets/secret.ts',
    "export type A = import('../http/request.ts').A;",
    'libs/common/src/secrets/secret.ts:1: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a lazy import with a comment, or in back-ticks',
    'libs/common/src/secrets/secret.ts',
    'export const load = () => import(/* late */ `../http/request.ts`);',
    'libs/common/src/secrets/secret.ts:1: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'an import with an apostrophe in its list',
    'libs/common/src/secrets/secret.ts',
    "import {\n  // one's own\n  a,\n} from '../http/request.ts';",
    'libs/common/src/secrets/secret.ts:4: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a file that is required',
    'libs/common/src/secrets/secret.ts',
    "export const a = createRequire(import.meta.url)('../http/request.ts');",
    'libs/common/src/secrets/secret.ts:1: secrets/ imports only folders that stand before it, and http/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a folder that imports the front door',
    'libs/extract/src/line/a.ts',
    "export * from '../extract.ts';",
    'libs/extract/src/line/a.ts:1: line/ imports only folders that stand before it, and src/ stands after it: scripts/lint/rooms.mjs',
  ],
  [
    'a folder that is in no list',
    'libs/common/src/novelty/a.ts',
    'export const a = 1;',
    'libs/common/src/novelty/a.ts:1: novelty/ is in no list of rooms: scripts/lint/rooms.mjs',
  ],
  [
    'a package imported by another than its owner',
    'libs/common/src/secrets/secret.ts',
    "import { request } from 'undici';",
    'libs/common/src/secrets/secret.ts:1: undici is imported in libs/common/src/http/request.ts alone',
  ],
  [
    'a part of a package imported by another than its owner',
    'tools/runner-add/src/main.ts',
    "import { x } from 'yaml/util';",
    'tools/runner-add/src/main.ts:1: yaml is imported in libs/common/src/yaml/read.ts and libs/common/src/config/edit.ts and libs/common/src/deploy-file/write.ts and libs/common/src/cli/output.ts alone',
  ],
  [
    'a package that nobody owns',
    'tools/runner-add/src/main.ts',
    "import leftPad from 'left-pad';",
    'tools/runner-add/src/main.ts:1: left-pad has no owner: name one in scripts/lint/rooms.mjs',
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
    "import { a } from '../../../libs/deploy/src/run/a.ts';",
    'tools/runner-add/src/main.ts:1: write @runner/deploy/run/a',
  ],
  [
    'a missing file',
    'tools/runner-add/src/main.ts',
    "import { a } from '@runner/deploy/run/missing';",
    'tools/runner-add/src/main.ts:1: libs/deploy/src/run/missing.ts does not exist',
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
      'libs/common/src/http/request.ts': 'export const a = 1;\n',
      'libs/extract/src/extract.ts': 'export const a = 1;\n',
      'libs/deploy/src/run/a.ts': 'export const a = 1;\n',
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
