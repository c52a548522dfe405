import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { changeApp, changeRegistry } from '@runner/common/apps/change';
import { createApp, requireApp } from '@runner/common/apps/store';
import { processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { outputOf, role, roleArgs, startRole } from '../files/processes.ts';
import { freshRoot, plant } from '../files/scratch.ts';

const io = { ...processIo(), now: () => new Date('2026-02-03T04:05:06.789Z') };

function registered(name: string) {
  const paths = freshRoot();
  const empty = { failures: null, held: null, deploying: null, last_checked: null };
  createApp(paths, {
    version: 1,
    app: name,
    repo: 'o/r',
    branch: 'main',
    created_at: 'then',
    updated_at: 'then',
    state: {},
    instances: {},
    ...empty,
  });
  return paths;
}

test('a change that throws leaves the app as it is and the registry free', () => {
  const paths = registered('blog');
  const before = requireApp(paths, 'blog');
  assert.throws(
    () =>
      changeApp({ io, paths, command: 'edit', app: 'blog' }, () => {
        throw new Error('no');
      }),
    /^no$/,
  );
  assert.equal(requireApp(paths, 'blog'), before);
  assert.is(
    changeRegistry({ io, paths, command: 'add' }, () => 7),
    7,
  );
});

test('a later change removes a half-written file of a killed command', () => {
  const paths = registered('blog');
  const stray = join(paths.stateDir, '.blog.json.0123456789ab.tmp');
  plant(stray, '{');
  const old = new Date(io.now().getTime() - 7_200_000);
  utimesSync(stray, old, old);
  changeRegistry({ io, paths, command: 'edit' }, () => {});
  assert.equal(readdirSync(paths.stateDir), ['blog.json']);
});

test('two processes that change an app fifty times each lose nothing', async () => {
  const paths = registered('blog');
  const counters = ['one', 'two'].map((name) => startRole('count', [paths.root, name]));
  await Promise.all(counters.map(outputOf));
  const { one, two, both } = requireApp(paths, 'blog');
  assert.equal([one, two, both], [50, 50, 100]);
});

function count(): void {
  const [root = '', name = ''] = roleArgs;
  for (let round = 0; round < 50; round += 1) {
    changeApp({ io: processIo(), paths: pathsOf(root), command: 'count', app: 'blog' }, (app) => ({
      ...app,
      [name]: Number(app[name] ?? 0) + 1,
      both: Number(app.both ?? 0) + 1,
    }));
  }
}

if (role === 'count') count();
else test.run();
