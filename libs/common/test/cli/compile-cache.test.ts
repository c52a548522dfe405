/** On Node 20 there is no compile cache; `npm run matrix -- --smoke` runs this with newer ones. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const knows = 'enableCompileCache' in nodeModule;

/** Whether a command that loads files of dist/lib leaves a cache in this home. */
async function caches(home: string): Promise<boolean> {
  const done = await run('runner-list', ['-o', 'yaml'], {
    root: temporaryFolder('cache'),
    env: { HOME: home },
  });
  assert.equal([done.status, done.stderr], [0, '']);
  assert.is(done.stdout, 'count: 0\napps: []\nunreadable: []\n');
  return existsSync(join(home, '.cache/runner'));
}

test('compiled code is kept in the home of the user, where Node can keep it', async () => {
  assert.is(await caches(temporaryFolder('home')), knows);
});

test('nothing is kept in a home or a folder that other users can write', async () => {
  const home = temporaryFolder('home');
  chmodSync(home, 0o770);
  assert.is(await caches(home), false);
  chmodSync(home, 0o700);
  mkdirSync(join(home, '.cache'));
  chmodSync(join(home, '.cache'), 0o777);
  assert.is(await caches(home), false);
});

test('a home that is a file, missing or unset is not a problem', async () => {
  const file = join(temporaryFolder('home'), 'file');
  writeFileSync(file, '');
  assert.is(await caches(file), false);
  assert.is(await caches(join(temporaryFolder('home'), 'none')), false);
  assert.is(await caches(''), false);
});

test.run();
