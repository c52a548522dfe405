/** Every file that is read, with every damage: one command each. All of them are in the long test. */
import { test } from 'uvu';
import { SUBJECTS, someCases } from './hostile-files.ts';
import { checkAll } from './hostile-files-check.ts';
import { startServer } from './server.ts';

const started = startServer();

for (const subject of Object.keys(SUBJECTS)) {
  test(`${subject}, damaged in any way: a sentence that names it, no hang, nothing lost`, async () => {
    const cases = someCases().filter((each) => each.subject === subject);
    await checkAll(await started, cases);
  });
}

test.after(async () => (await started).close());
test.run();
