import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const LIST = '# A\n\n## Words\n\n- `so be it` → amen\n- `thee` → you\n\n## More\n';

/** Runs the lint over a checkout of these files; what it prints, and its status. */
function lint(files: Record<string, string>) {
  const folder = temporaryFolder('words');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, ['scripts/lint/words.mjs', folder], {
    encoding: 'utf8',
  });
  return { status, lines: stderr.trimEnd().split('\n') };
}

test('a replaced phrase is reported with its line and what to write, the list itself is not', () => {
  const { status, lines } = lint({
    'CONTRIBUTING.md': LIST,
    'libs/x/src/a.ts': '/**\n * So be\n * it.\n */\n',
    'docs/page.md': 'for thee\n',
    'tests/a.test.ts': '// thee\n',
  });
  assert.is(status, 1);
  assert.equal(lines, [
    "docs/page.md:1: 'thee': rather you (CONTRIBUTING.md, Words)",
    "libs/x/src/a.ts:2: 'so be it': rather amen (CONTRIBUTING.md, Words)",
    "tests/a.test.ts:1: 'thee': rather you (CONTRIBUTING.md, Words)",
    'words: 2 phrases, 3 problems',
  ]);
});

test('parts of words, logs of other programs and installed packages are left alone', () => {
  const { status, lines } = lint({
    'CONTRIBUTING.md': LIST,
    'libs/x/src/a.ts': '// theeman, pan-thee\n',
    'corpus/train/a.txt': 'thee\n',
    'libs/x/node_modules/y/index.js': '// thee\n',
  });
  assert.equal([status, lines], [0, ['words: 2 phrases, 0 problems']]);
});

test('a checkout without the list fails', () => {
  const { status, lines } = lint({ 'CONTRIBUTING.md': '# A\n' });
  assert.equal(
    [status, lines[0]],
    [1, 'CONTRIBUTING.md:1: no list of words in a section `## Words`'],
  );
});

test.run();
