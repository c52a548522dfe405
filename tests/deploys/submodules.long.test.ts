import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import { watchProcesses } from '@runner/testing/proc-watch';
import { findBytes } from '@runner/testing/secret-search';
import * as assert from 'uvu/assert';
import { TOKEN, type World, worldSuite } from './world.ts';

const test = worldSuite('submodules and large files');

const at = (world: World, path: string) =>
  join(world.root, 'apps/shop/instances/default/current', path);

const modules = (...pairs: [path: string, url: string][]) =>
  pairs.map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`).join('');

/** A library with a submodule of its own. */
async function makeLibrary(world: World): Promise<string> {
  await world.git.createRepo('acme/inner');
  const inner = await world.git.commit('acme/inner', { 'inner.txt': 'inner\n' }, 'inner');
  await world.git.createRepo('acme/lib');
  return world.git.commit(
    'acme/lib',
    {
      'lib.txt': 'lib\n',
      'deep/inner': { submodule: inner },
      '.gitmodules': modules(['deep/inner', '../inner.git']),
    },
    'lib',
  );
}

test('submodules on the same host are fetched with the token, nested ones too, by any form of address', async ({
  world,
}) => {
  const lib = await makeLibrary(world);
  const host = new URL(world.git.url).hostname;
  const urls = {
    a: '../lib.git',
    b: '../../acme/lib',
    c: `${world.git.url}/acme/lib.git`,
    d: `git@${host}:acme/lib.git`,
    e: `ssh://git@${host}/acme/lib.git`,
  };
  const paths = Object.keys(urls).map((name) => `vendor/${name}`);
  await world.push('v1', {
    deploy: 'build: "cat vendor/a/lib.txt > built"\n',
    files: {
      '.gitmodules': modules(
        ...Object.entries(urls).map(([name, url]): [string, string] => [`vendor/${name}`, url]),
      ),
      ...Object.fromEntries(paths.map((path) => [path, { submodule: lib }])),
    },
  });
  const { value, sightings } = await watchProcesses([TOKEN], () => world.deploy());
  assert.is(value.status, 0, value.stderr);
  assert.equal(sightings, []);
  assert.is(readFileSync(at(world, 'built'), 'utf8'), 'lib\n');
  for (const path of paths) {
    assert.is(readFileSync(at(world, `${path}/deep/inner/inner.txt`), 'utf8'), 'inner\n');
  }
  assert.equal(findBytes(world.root, TOKEN), []);
  // What is in a mirror already is not fetched again.
  const before = world.git.requests.length;
  await world.launch('v2', { deploy: 'keep: 2\n' });
  const asked = world.git.requests.slice(before).map(({ path }) => path);
  assert.not.ok(asked.some((path) => path.includes('lib')));
  assert.is(readFileSync(at(world, 'vendor/c/lib.txt'), 'utf8'), 'lib\n');
});

test('a submodule at another host is the fault of the commit, and that host hears nothing', async ({
  world,
}) => {
  const other = await startCodeHost();
  const lib = await makeLibrary(world);
  for (const url of [
    `${other.url}/acme/lib.git`,
    'https://evil.example/acme/lib.git',
    'ext::sh -c touch% pwned',
    'file:///etc',
    '/etc',
    '--upload-pack=touch pwned',
  ]) {
    await world.push('v1', {
      deploy: 'keep: 2\n',
      files: { '.gitmodules': modules(['lib', url]), lib: { submodule: lib } },
    });
    const done = await world.deploy();
    assert.is(done.status, 1);
    assert.match(
      String(world.events().at(-1)?.error),
      /^config: the submodule lib cannot be fetched: its address .* is on no known code host: an operator can add the host to code_hosts in config\.yml$/,
    );
  }
  assert.equal(other.requests, []);
  assert.is(world.events().at(-1)?.stage, 'config');
  assert.is((world.state().failures as { count: number }).count, 1);
  await other.close();
});

for (const [what, files, sentence] of [
  ['has no address', {}, '.gitmodules has no address for it'],
  [
    'names nothing on the host',
    { '.gitmodules': modules(['lib', '../../../x']) },
    'its address ../../../x is not <owner>/<name>',
  ],
  [
    'is far away',
    { '.gitmodules': modules(['lib', `./${'/'.repeat(100_000)}x`]) },
    `its address .${'/'.repeat(199)} is not <owner>/<name>`,
  ],
] as const) {
  test(`a submodule that ${what} is refused in one sentence`, async ({ world }) => {
    const lib = await makeLibrary(world);
    await world.push('v1', {
      deploy: 'keep: 2\n',
      files: { ...files, lib: { submodule: lib } },
    });
    assert.is((await world.deploy()).status, 1);
    assert.is(
      world.events().at(-1)?.error,
      `config: the submodule lib cannot be fetched: ${sentence}`,
    );
  });
}

test('a submodule that the token cannot read fails the deploy at the fetch', async ({ world }) => {
  const lib = await makeLibrary(world);
  await world.push('v1', {
    deploy: 'keep: 2\n',
    files: { '.gitmodules': modules(['lib', '../secret.git']), lib: { submodule: lib } },
  });
  const done = await world.deploy();
  assert.is(done.status, 1);
  assert.match(
    done.stderr,
    /the submodule lib cannot be fetched: the code host has no repository acme\/secret, or the token cannot read it \(not_configured\)\n$/,
  );
  assert.equal(world.kinds(), ['DeployFailure']);
});

test('a repository that contains itself ends at a limit', async ({ world }) => {
  await world.git.createRepo('acme/loop');
  let below = await world.git.commit('acme/loop', { x: '1\n' }, 'end');
  for (let depth = 0; depth < 7; depth += 1) {
    below = await world.git.commit(
      'acme/loop',
      { '.gitmodules': modules(['again', '../loop']), again: { submodule: below } },
      `loop ${depth}`,
    );
  }
  await world.push('v1', {
    deploy: 'keep: 2\n',
    files: { '.gitmodules': modules(['again', '../loop']), again: { submodule: below } },
  });
  await world.deploy();
  assert.match(
    String(world.events().at(-1)?.error),
    /^config: the submodule (again\/){5}again cannot be fetched: there are more than 100 submodules, or more than 5 deep$/,
  );
});

const POINTER =
  'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n';

test('a pointer to Git LFS is refused with the name of its file', async ({ world }) => {
  await world.push('v1', {
    deploy: 'keep: 2\n',
    files: { 'art/.gitattributes': '*.psd filter=lfs diff=lfs -text\n', 'art/logo.psd': POINTER },
  });
  assert.is((await world.deploy()).status, 1);
  assert.is(
    world.events().at(-1)?.error,
    'config: art/logo.psd is kept in Git LFS, which runner does not fetch: commit the file itself, or fetch it in the build',
  );
});

test('a filter of Git LFS without any pointer is nothing to refuse', async ({ world }) => {
  await world.launch('v1', {
    deploy: 'keep: 2\n',
    files: {
      '.gitattributes': '*.psd filter=lfs diff=lfs merge=lfs -text\n',
      'README.md': `How LFS works:\n\n${POINTER}`,
      'logo.psd': 'the file itself\n',
    },
  });
  assert.ok(statSync(at(world, 'logo.psd')).isFile());
});

test('what git says is taken whole or not at all: a pointer after 64 MiB of it is not missed', async ({
  world,
}) => {
  await world.push('v1', {
    deploy: 'keep: 2\n',
    files: {
      '.gitattributes': '*.psd filter=lfs diff=lfs -text\n',
      'a.psd': `${'x'.repeat(67_108_864)}\n${POINTER}`,
      'b.psd': POINTER,
    },
  });
  assert.is((await world.deploy()).status, 1);
  assert.is(world.events().at(-1)?.error, 'git failed: it answers with more than 64 MiB');
});

test.run();
