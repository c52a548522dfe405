/** Tests of damaged files, those of one file together. */
import { test } from 'uvu';
import type { Case } from './hostile-files.ts';
import { checkAll } from './hostile-files-check.ts';
import { startServer } from './server.ts';

/** Files that are read before anything is done; the others are records of what was done, and locks. */
const SETTINGS = ['state', 'config.yml', 'the .deploy.yml of the active release', 'mkey'];

/** Whether the damaged file holds settings. */
export const isSetting = ({ subject }: Case): boolean => SETTINGS.includes(subject);

/** One test for each file. */
export function testFiles(cases: readonly Case[]): void {
  const started = startServer();
  for (const subject of new Set(cases.map((each) => each.subject))) {
    test(`${subject}, damaged in any way, is reported by name, without a hang or a loss`, async () => {
      const own = cases.filter((each) => each.subject === subject);
      await checkAll(await started, own);
      process.stdout.write(`(${own.length} damages met by a command: ${subject})\n`);
    });
  }
  test.after(async () => (await started).close());
}
