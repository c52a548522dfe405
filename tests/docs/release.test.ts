/** What names a release follows the version in package.json: the changelog, the manual pages, the files to install. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pages, textOf } from './pages.ts';

const version: string = JSON.parse(textOf('package.json')).version;

/** Headings of the changelog: each release, the newest first. */
const [unreleased, newest = ''] = textOf('CHANGELOG.md').match(/^## .+$/gm) ?? [];

test('the changelog has the version below what is unreleased, with its date', () => {
  assert.is(unreleased, '## Unreleased');
  assert.is(newest.replace(/\d{4}-\d\d-\d\d$/, 'DATE'), `## ${version} - DATE`);
});

test('executables and manual pages have the version, and the date of its release', async () => {
  assert.is((await run('runner', ['--version'])).stdout, `runner ${version}\n`);
  const date = newest.split(' ').at(-1);
  for (const page of ['man1/runner.1', 'man1/runner-deploy.1', 'man5/runner-config.5']) {
    const [heading = ''] = readFileSync(join(distFolder(), 'share/man', page), 'utf8').split('\n');
    assert.ok(heading.includes(` ${date} "runner ${version}" `), `${page}: ${heading}`);
  }
});

test('the files that the pages install are those of the version', () => {
  const named = pages().flatMap((page) =>
    [...textOf(page).matchAll(/\brunner(?:-[a-z]+)?[_-](\d+\.\d+\.\d+)/g)].map(
      ([file, number]) => ({ page, file, number }),
    ),
  );
  assert.ok(named.length > 3);
  assert.equal(
    named.filter(({ number }) => number !== version),
    [],
  );
});

test.run();
