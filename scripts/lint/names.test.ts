import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Runs the lint over a checkout of these files; what it prints, and its status. */
function lint(files: Record<string, string>) {
  const folder = temporaryFolder('names');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lint/names.mjs', folder], {
    encoding: 'utf8',
  });
  return { status, lines: stderr.trimEnd().split('\n') };
}

test('the name of an exported type is that of no other type, exported or not', () => {
  const { status, lines } = lint({
    'libs/x/src/a.ts': '/** A. */\nexport interface Answer {\n  a: 1;\n}\n',
    'libs/x/src/b.ts': "export type Place = 'here';\ntype Answer = string;\n",
    'tools/y/src/c.ts': 'export abstract class Answer<T> {}\nclass Own {}\n',
  });
  assert.is(status, 1);
  assert.equal(lines, [
    'libs/x/src/a.ts:2: Answer is also at libs/x/src/b.ts:2,tools/y/src/c.ts:1',
    'names: 3 types, 1 problems',
  ]);
});

test('types of single files may share a name; tests and scripts may use any', () => {
  const { status, lines } = lint({
    'libs/x/src/a.ts': 'type Row = 1;\n  type Inner = 2;\nexport type { Other } from "./b.ts";\n',
    'libs/x/src/b.ts': 'interface Row {}\nexport type Other = Row;\n',
    'libs/x/test/a.test.ts': 'export type Other = 3;\n',
    'scripts/a.ts': 'export type Other = 4;\n',
  });
  assert.equal([status, lines], [0, ['names: 2 types, 0 problems']]);
});

test('a literal that is spread is found, a value that is spread is not', () => {
  const { status, lines } = lint({
    'tools/y/src/a.ts': 'const a = { ...b,\n  ...{ c, d },\n  ...(e && { f }) };\n',
  });
  assert.equal(
    [status, lines],
    [1, ['tools/y/src/a.ts:2: a literal is spread: write it out', 'names: 0 types, 1 problems']],
  );
});

test('the repository has no such problem', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lint/names.mjs'], {
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
});

test.run();
