/**
 * `npm run weights`: learns from the logs in `corpus/train` what words, form and place say of a
 * line, and writes the table of `libs/extract/src/choose/weights.ts`. The same logs give the same table.
 * With `-- --check` it writes nothing and prints how well such weights answer logs they were not learned from.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from './check.ts';
import { KNOWN, learnedTable, OTHERS, STEP } from './table.ts';

const TABLE = join('libs', 'extract', 'src', 'choose', 'weights.ts');

if (process.argv.includes('--check')) process.stdout.write(check(KNOWN, OTHERS, STEP));
else {
  const { text, logs } = learnedTable();
  writeFileSync(TABLE, text);
  process.stdout.write(`${TABLE}: from ${logs} logs\n`);
}
