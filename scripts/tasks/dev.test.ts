import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const dev = join(process.cwd(), 'scripts/dev.mjs');
const folder = mkdtempSync(join(tmpdir(), 'dev-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a task under a Node that says it is of the given version. */
function runAs(version: string, task: string) {
  const pretend = join(folder, 'pretend.cjs');
  writeFileSync(
    pretend,
    `const versions = { ...process.versions, node: '${version}' };
     Object.defineProperty(process, 'versions', { value: versions });
     Object.defineProperty(process, 'version', { value: 'v${version}' });`,
  );
  return spawnSync(process.execPath, ['--require', pretend, dev, task], { encoding: 'utf8' });
}

for (const version of ['12.22.0', '18.20.4', '20.17.0']) {
  test(`Node ${version} is refused with one sentence`, () => {
    const { status, stdout, stderr } = runAs(version, 'build');
    assert.is(stderr, `runner: needs Node 20.18 or later, this is v${version}\n`);
    assert.is(stdout, '');
    assert.is(status, 1);
  });
}

for (const version of ['20.18.0', '22.0.0', '24.1.0']) {
  test(`Node ${version} is taken`, () => {
    const { status, stderr } = runAs(version, 'no-such-task');
    assert.match(stderr, /^runner: no task 'no-such-task'; there are build, test, test:long, t, /);
    assert.is(status, 2);
  });
}

test('the entry of the tasks parses in every Node that knows modules', () => {
  const text = readFileSync(dev, 'utf8');
  assert.not.match(text, /\?\?|\?\.|\bimport [^(]*from|await/);
});

test('the lockfile names no host', () => {
  assert.not.match(readFileSync(join(process.cwd(), 'pnpm-lock.yaml'), 'utf8'), /:\/\//);
});

test.run();
