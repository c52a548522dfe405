/** What the sets of a list mean, as the tools themselves say. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesOf } from '@runner/deploy/guard/sets';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test('npm is also the registry of Yarn, which version 2 and later have under another name', () => {
  const cwd = temporaryFolder('sets');
  const env = { PATH: `${cwd}:/usr/bin:/bin` };
  const ask = (command: string) =>
    spawnSync('/bin/sh', ['-c', command], { cwd, env, encoding: 'utf8' }).stdout;
  const hosts = () => rulesOf(['npm'], { folders: [cwd], ask }).map(({ host }) => host);
  const tool = (name: string, text: string) =>
    writeFileSync(join(cwd, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  tool('npm', 'echo https://npm.example.org/');
  tool('yarn', 'test "$3" = registry && echo https://one.example.org || echo undefined');
  assert.equal(hosts(), ['npm.example.org']);
  writeFileSync(join(cwd, 'yarn.lock'), '');
  assert.equal(hosts(), ['npm.example.org', 'one.example.org']);
  tool('yarn', 'test "$3" = npmRegistryServer && echo https://four.example.org || exit 1');
  assert.equal(hosts(), ['npm.example.org', 'four.example.org']);
});

test('a file of a commit is read in time, whatever its lines are', () => {
  const folder = temporaryFolder('sets');
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const hosts = (set: string) =>
    rulesOf([set], { folders: [folder], ask: () => '' }).map(({ host }) => host);
  mkdirSync(join(folder, '.bundle'));
  const mirror = 'BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "https://gems.example.org"';
  write('.bundle/config', `${'MIRROR'.repeat(200_000)}\n${mirror}\n`);
  const dist = '"dist": {"type": "zip", "url": "https://dist.example.org/a.zip"}';
  write('composer.lock', `${'"dist": {'.repeat(200_000)}\n${dist}\n"url": "https://not.example"`);
  const begin = Date.now();
  assert.equal(hosts('rubygems'), ['gems.example.org']);
  assert.equal(hosts('composer'), ['dist.example.org']);
  assert.ok(Date.now() - begin < 5_000, `${Date.now() - begin} ms`);
});

test.run();
