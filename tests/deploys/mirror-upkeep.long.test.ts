/** A mirror does not grow for ever: what only earlier commits had is dropped, and can be fetched again. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeWorld, REPO } from './world.ts';

test('after twenty commits a deploy drops unneeded ones and keeps recent ones', async () => {
  const world = await makeWorld();
  const mirror = join(world.root, 'apps/shop/repo.git');
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: mirror,
      encoding: 'utf8',
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    }).trim();
  const commit = (message: string) => git('commit-tree', '-m', message, 'refs/runner/head^{tree}');
  const has = (id: string) => {
    try {
      git('cat-file', '-e', id);
      return true;
    } catch {
      return false;
    }
  };
  const fetched = () => readFileSync(join(mirror, 'shallow'), 'utf8').trim().split('\n');
  try {
    await world.launch('v1', { deploy: 'keep: 2\n' });
    const [first = ''] = fetched();
    // As seventeen more deploys leave it, some hours ago.
    const earlier = Array.from({ length: 17 }, (_, index) => commit(`earlier ${index}`));
    appendFileSync(join(mirror, 'shallow'), `${earlier.join('\n')}\n`);
    const ago = Date.now() / 1000 - 10_000;
    for (const name of readdirSync(join(mirror, 'objects'), { recursive: true }))
      utimesSync(join(mirror, 'objects', String(name)), ago, ago);
    const fresh = commit('by somebody just now');
    await world.launch('v2', { deploy: 'keep: 2\n' });
    assert.equal(earlier.map(has), Array(17).fill(true), 'nineteen are not too many');
    const third = await world.push('v3', { deploy: 'keep: 2\n' });
    const done = await world.deploy();
    assert.equal([done.status, done.stderr.includes('tidied')], [0, false], done.stderr);
    assert.equal([...earlier, first].filter(has), []);
    assert.equal([has(third), has(fresh)], [true, true]);
    assert.ok(fetched().length < 5, fetched().join());
    git('fsck', '--connectivity-only');
    const back = await world.deploy(['--ref', 'v1']);
    assert.is(back.status, 0, back.stderr);
    await world.launch('v4', { deploy: 'keep: 2\n' });
  } finally {
    await world.close();
  }
});

test('a push that changes none of the paths and one that fails drop them too', async () => {
  const world = await makeWorld();
  const mirror = join(world.root, 'apps/shop/repo.git');
  const fetched = () => readFileSync(join(mirror, 'shallow'), 'utf8').trim().split('\n');
  // As twenty pushes some hours ago leave it: the commits themselves do not matter.
  const age = () => {
    const ids = Array.from({ length: 20 }, (_, index) => String(index).padStart(40, 'a'));
    appendFileSync(join(mirror, 'shallow'), `${ids.join('\n')}\n`);
  };
  const fetch = () => run('runner-fetch', ['--deploy', 'shop'], { root: world.root });
  try {
    await world.launch('v1');
    await run('runner-edit', ['shop', '--paths', 'server.js,.deploy.yml'], { root: world.root });
    age();
    await world.git.commit(REPO, { 'docs/a': 'a' }, 'only docs');
    assert.match((await fetch()).stdout, /changes nothing in/);
    assert.ok(fetched().length < 5, fetched().join());
    age();
    // Also a list that has grown for years.
    const grow = `yes ${'a'.repeat(40)} | head -n 26000 >> ${join(mirror, 'shallow')}; false`;
    await world.push('v2', { deploy: `build: "${grow}"\n` });
    assert.match((await fetch()).stdout, /deploy of v2 failed at build, v1 is active/);
    assert.is(world.kinds().filter((kind) => kind === 'DeployFailure').length, 1);
    assert.ok(fetched().length < 5, fetched().join());
  } finally {
    await world.close();
  }
});

test('a mirror that lost its commits or its files, as in a power cut, is fetched again', async () => {
  const world = await makeWorld();
  const mirror = join(world.root, 'apps/shop/repo.git');
  try {
    await world.launch('v1');
    rmSync(join(mirror, 'objects'), { recursive: true });
    mkdirSync(join(mirror, 'objects'));
    await world.launch('v2');
    writeFileSync(join(mirror, 'HEAD'), '');
    writeFileSync(join(mirror, 'refs/runner/head'), '');
    await world.launch('v3');
    assert.is(await world.page(), 'v3');
  } finally {
    await world.close();
  }
});

test('a push is compared with the version that runs although the mirror is tidied', async () => {
  const world = await makeWorld();
  const mirror = join(world.root, 'apps/shop/repo.git');
  const inMirror = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], {
      cwd: mirror,
      encoding: 'utf8',
    }).trim();
  try {
    await world.launch('v1');
    await run('runner-edit', ['shop', '--paths', 'server.js,.deploy.yml'], { root: world.root });
    await world.launch('v2');
    await run('runner-rollback', ['shop'], { root: world.root });
    const objects = join(mirror, 'objects');
    for (const name of readdirSync(objects, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(objects, name), 1e9, 1e9);
    // As many pushes within an hour leave it.
    const tree = inMirror('write-tree');
    const commit = (_: unknown, at: number) => inMirror('commit-tree', tree, '-m', String(at));
    const recent = Array.from({ length: 20 }, commit);
    appendFileSync(join(mirror, 'shallow'), `${recent.join('\n')}\n`);
    await world.git.commit(REPO, { 'docs/a': 'a' }, 'only docs');
    const { stdout, stderr } = await run('runner-fetch', ['--deploy', 'shop'], {
      root: world.root,
    });
    assert.match(stdout, /changes nothing in/, stderr);
    assert.not.match(stderr, /fetch main/);
  } finally {
    await world.close();
  }
});

test('a mirror is not made again because its check was ended', async () => {
  const world = await makeWorld();
  const head = join(world.root, 'apps/shop/repo.git/HEAD');
  const bin = temporaryFolder('bin');
  const script = `#!/bin/sh
case "$*" in *' fsck '*) kill -9 $$;; *' fetch '*) echo 'fatal: odd' >&2; exit 128;; esac
PATH=\${PATH#*:}; exec git "$@"
`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  try {
    await world.launch('v1');
    await world.push('v2');
    const { ino } = statSync(head);
    const failed = await world.deploy([], { PATH: `${bin}:${process.env.PATH}` });
    assert.match(failed.stderr, /git failed: odd/);
    assert.is(statSync(head).ino, ino);
  } finally {
    await world.close();
  }
});

test('lock files that a git left when it was killed do not stop the next deploy', async () => {
  const world = await makeWorld();
  const mirror = join(world.root, 'apps/shop/repo.git');
  try {
    await world.launch('v1');
    for (const name of ['shallow', 'HEAD', 'config', 'packed-refs', 'refs/runner/head']) {
      writeFileSync(join(mirror, `${name}.lock`), '');
    }
    await world.launch('v2');
    assert.is(await world.page(), 'v2');
    assert.is(readdirSync(mirror).filter((name) => name.endsWith('.lock')).length, 0);
  } finally {
    await world.close();
  }
});

test.run();
