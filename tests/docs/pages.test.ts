/** What the pages list is complete, and the files that they show are what the runner reads. */
import { readDeployFile } from '@runner/common/deploy-file/read';
import { FAILURE_CODES } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fencesOf, textOf } from './pages.ts';

test('errors.md says what to do about each code of an error, and about no other', () => {
  const entries = [...textOf('docs/errors.md').matchAll(/^\| `(\w+)` \| \d+ \| (.+) \|$/gm)];
  assert.equal(entries.map(([, code]) => code).sort(), [...FAILURE_CODES].sort());
  for (const [, code, text = ''] of entries) assert.ok(text.length > 30, `${code} says something`);
});

for (const page of ['README.md', 'docs/examples.md', 'docs/deploy-file.md']) {
  const examples = fencesOf(page).filter(({ language }) => language === 'yaml');

  test(`every .deploy.yml of ${page} is valid`, () => {
    assert.ok(examples.length > 0);
    for (const { line, text } of examples) {
      try {
        readDeployFile(Buffer.from(text));
      } catch (error) {
        assert.unreachable(`${page}:${line}: ${error}`);
      }
    }
  });
}

test('the examples show each way to start an app', () => {
  const examples = fencesOf('docs/examples.md').filter(({ language }) => language === 'yaml');
  const types = examples.map(({ text }) => readDeployFile(Buffer.from(text)).start.type);
  const all = ['command', 'compose', 'none', 'pm2', 'process', 'systemd'];
  assert.equal([...new Set(types)].sort(), all);
});

test.run();
