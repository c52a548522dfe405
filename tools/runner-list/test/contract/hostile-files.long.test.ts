/** Every file, every damage, every command that reads it. */
import { test } from 'uvu';
import { allCases, SUBJECTS } from './hostile-files.ts';
import { checkAll } from './hostile-files-check.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const subject of Object.keys(SUBJECTS)) {
  test(`${subject}, damaged in any way, is met by every command that reads it`, async () => {
    const cases = allCases().filter((each) => each.subject === subject);
    await checkAll(await started, cases);
    process.stdout.write(`(${cases.length} cases of ${subject})\n`);
  });
}

test.after(async () => (await started).close());
test.run();
