/** Follows "Adding a rule" of docs/contributing.md to the letter, in a copy of the extractor. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inCheckout } from './error-score.ts';

const checkout = dirname(inCheckout('pnpm-workspace.yaml'));
const page =
  readFileSync(join(checkout, 'docs', 'contributing.md'), 'utf8')
    .split('\n## Adding a rule\n')[1]
    ?.split('\n## ')[0] ?? '';

/** The blocks of the page, each with the text before it. */
const blocks = [...page.matchAll(/([\s\S]*?)\n```(\w+)\n([\s\S]*?)```\n/g)].map(
  ([, before = '', language = '', text = '']) => ({ before, language, text }),
);

function blockOf(language: string, nth = 0): { before: string; text: string } {
  const found = blocks.filter((block) => block.language === language)[nth];
  assert.ok(found, `block ${nth} of ${language}`);
  return found;
}

/** The last file that a text names. */
function fileIn(text: string): string {
  const path = [...text.matchAll(/`((?:libs\/extract|corpus)\/[\w./-]+\.\w+)`/g)].at(-1)?.[1];
  assert.ok(path, 'the page names the file above its block');
  return path;
}

function copyOfExtractor(): string {
  const copy = mkdtempSync(join(tmpdir(), 'adding-a-rule-'));
  for (const path of [
    'bench/extract.ts',
    'libs/extract/src',
    'libs/extract/package.json',
    'libs/extract/test/error-score.ts',
    'corpus',
  ]) {
    cpSync(join(checkout, path), join(copy, path), { recursive: true });
  }
  mkdirSync(join(copy, 'node_modules', '@runner'), { recursive: true });
  symlinkSync(join(copy, 'libs/extract'), join(copy, 'node_modules/@runner/extract'));
  symlinkSync(join(checkout, 'libs/common'), join(copy, 'node_modules/@runner/common'));
  return copy;
}

function run(folder: string, program: string, args: readonly string[]) {
  return spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
}

/** Builds the bench of the copy and runs it with the arguments that the page gives. */
function bench(copy: string, command: string): { status: number | null; stdout: string } {
  const args = /^npm run bench -- extract (.*)$/m.exec(command)?.[1]?.split(' ');
  assert.ok(args, command);
  const options = ['--bundle', '--platform=node', '--format=cjs', '--outfile=bench.cjs'];
  const esbuild = join(checkout, 'node_modules', '.bin', 'esbuild');
  const built = run(copy, esbuild, ['bench/extract.ts', ...options]);
  assert.is(built.status, 0, built.stderr);
  return run(copy, process.execPath, ['bench.cjs', ...args]);
}

/** Writes the log, with its truth, into the file that the page names. */
function saveLog(copy: string): void {
  const { before, text } = blockOf('text');
  writeFileSync(join(copy, fileIn(before)), text);
}

function addRow(copy: string): void {
  const { before, text } = blockOf('ts');
  const path = join(copy, fileIn(before));
  const list = /top of the list `(\w+)`/.exec(before)?.[1];
  const head = `export const ${list} = [\n`;
  const rows = readFileSync(path, 'utf8');
  assert.ok(rows.includes(head), head);
  writeFileSync(path, rows.replace(head, head + text));
}

test('with the row of docs/contributing.md a log that was answered wrongly is answered rightly', () => {
  const copy = copyOfExtractor();
  const command = blockOf('sh').text;
  saveLog(copy);
  const before = bench(copy, command);
  assert.is(before.stdout, blockOf('text', 1).text);
  assert.is(before.status, 1);
  addRow(copy);
  const after = bench(copy, command);
  assert.is(after.stdout, blockOf('text', 2).text);
  assert.is(after.status, 0);
});

test.run();
