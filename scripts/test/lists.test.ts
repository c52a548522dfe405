import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

for (const list of ['.ci/turns', '.ci/storms']) {
  test(`every long test that ${list} names exists, once`, () => {
    const files = readFileSync(list, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    assert.equal(
      files.filter((file) => !existsSync(file)),
      [],
    );
    assert.is(new Set(files).size, files.length);
  });
}

test.run();
