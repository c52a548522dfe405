import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { example } from './bundle-example.ts';

const home = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

for (const [file, text] of Object.entries(example)) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}
cpSync(join(home, 'scripts'), join(folder, 'scripts'), {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
mkdirSync(join(folder, 'node_modules/@runner'), { recursive: true });
symlinkSync(join(folder, 'libs/common'), join(folder, 'node_modules/@runner/common'));
symlinkSync(join(home, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
symlinkSync(join(home, 'libs/common/node_modules'), join(folder, 'libs/common/node_modules'));

const dist = join(folder, 'node_modules/.cache/runner/dist');

function bundle() {
  return spawnSync(process.execPath, [join(folder, 'scripts/bundle.mjs')], { encoding: 'utf8' });
}

function run(program: string, ...args: string[]) {
  return spawnSync(program, args, { cwd: '/', encoding: 'utf8' }).stdout;
}

function files(below: string): string[] {
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(below.length + 1))
    .sort();
}

const tool = join(dist, 'bin/runner-a');

test('every tool becomes one executable, its lazy parts files of readable names', () => {
  const { status, stderr } = bundle();
  assert.is(stderr, '');
  assert.is(status, 0);
  assert.equal(files(dist), [
    'bin/runner',
    'bin/runner-a',
    'chunks.json',
    'dev/libs.common.test.config.test.cjs',
    'dev/programs.json',
    'dev/vendor/undici.cjs',
    'lib/askpass',
    'lib/precompile-server.cjs',
    'lib/precompile.cjs',
    'lib/runner-a/config.cjs',
    'lib/runner-a/help.cjs',
    'lib/runner-a/http.cjs',
    'lib/runner-a/list.cjs',
    'lib/runner-a/main.cjs',
    'lib/runner-a/swift/main.cjs',
    'lib/runner-a/swift/wire.cjs',
    'lib/runner-a/test.cjs',
    'package.json',
    'packages.json',
    'vendor/undici.cjs',
    'vendor/yaml.cjs',
  ]);
  for (const file of ['bin/runner', 'bin/runner-a', 'lib/askpass']) {
    assert.is(statSync(join(dist, file)).mode & 0o777, 0o755, file);
  }
  assert.is(statSync(join(dist, 'lib/runner-a/list.cjs')).mode & 0o777, 0o644);
});

test('the version is filled in, in scripts as well', () => {
  assert.is(run(tool), 'load help\nrunner-a 9.8.7 help with failure\n');
  assert.is(run(join(dist, 'bin/runner')), 'runner 9.8.7\n');
});

test('lazy parts and what they share are loaded once, when asked for', () => {
  assert.is(run(tool, 'list'), "load help\nload config\n[ 'runner-a', { a: 1 } ]\n");
  assert.is(
    run(tool, 'test'),
    "load help\nload config\nload wire\nload http wired\n[ 'failure', 'function', 'wired', { a: 1 } ]\n",
  );
});

test('a class is the same one in the executable and in a lazy part', () => {
  assert.is(run(tool, 'list', 'bad'), 'load help\nload config\ntrue bad config\n');
});

test('a module that is loaded at start may be imported lazily as well, and is the same', () => {
  assert.is(run(tool, 'help'), "load help\ntrue [ 'help' ]\n");
});

test('a quick command starts from a main file of its own, with lazy parts of its own', () => {
  assert.is(run(tool, 'swift', 'x'), "runner-a swift [ 'x' ]\n");
  assert.is(run(tool, 'swift', 'far'), "runner-a swift [ 'far' ]\nload wire\nwired\n");
  assert.is(run(tool, 'swift', '--help'), 'load help\nnot quick\n', 'its help needs less');
  const chunks = JSON.parse(readFileSync(join(dist, 'chunks.json'), 'utf8'))['runner-a'];
  assert.equal(chunks['lib/runner-a/swift/main.cjs'].inputs, [
    'tools/runner-a/src/name.ts',
    'tools/runner-a/src/quick/swift.ts',
  ]);
});

test('an older Node is told in one sentence', () => {
  const old = join(folder, 'old.cjs');
  writeFileSync(
    old,
    "process.getBuiltinModule = undefined;\nObject.defineProperty(process, 'version', { value: 'v18.20.4' });\n",
  );
  const { status, stdout, stderr } = spawnSync(tool, ['list'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: `--require ${old}` },
  });
  assert.equal(
    [status, stdout, stderr],
    [1, '', 'runner-a: needs Node 20.18 or newer, this is v18.20.4\n'],
  );
});

test('an executable works through a symbolic link', () => {
  symlinkSync(tool, join(folder, 'link'));
  assert.is(run(join(folder, 'link'), 'list', 'bad'), 'load help\nload config\ntrue bad config\n');
});

test('chunks.json tells for every file what it holds and loads', () => {
  const chunks = JSON.parse(readFileSync(join(dist, 'chunks.json'), 'utf8'))['runner-a'];
  assert.equal(
    chunks['lib/runner-a/main.cjs'].inputs.filter((input: string) => !input.includes('mri')),
    [
      'libs/common/src/failure.ts',
      'libs/common/src/help.ts',
      'tools/runner-a/src/main.ts',
      'tools/runner-a/src/name.ts',
    ],
  );
  assert.equal(chunks['lib/runner-a/main.cjs'].requires, []);
  assert.equal(chunks['lib/runner-a/main.cjs'].lazy, [
    'lib/runner-a/config.cjs',
    'lib/runner-a/help.cjs',
    'lib/runner-a/list.cjs',
    'lib/runner-a/test.cjs',
  ]);
  assert.equal(chunks['lib/runner-a/config.cjs'], {
    inputs: ['libs/common/src/config.ts'],
    requires: ['lib/runner-a/main.cjs', 'vendor/yaml.cjs'],
    lazy: [],
  });
  assert.equal(chunks['lib/runner-a/test.cjs'].lazy, ['lib/runner-a/http.cjs']);
});

test('what two lazy parts share lies in the one that is always loaded first', () => {
  const chunks = JSON.parse(readFileSync(join(dist, 'chunks.json'), 'utf8'))['runner-a'];
  assert.equal(chunks['lib/runner-a/test.cjs'].inputs, [
    'libs/common/src/wire.ts',
    'tools/runner-a/src/commands/test.ts',
  ]);
  assert.equal(chunks['lib/runner-a/http.cjs'].requires, [
    'lib/runner-a/main.cjs',
    'lib/runner-a/test.cjs',
    'vendor/undici.cjs',
  ]);
});

test('a lazy part that others import as well is one file', () => {
  assert.is(run(tool, 'config', 'c: 3'), 'load help\nload config\n{ c: 3 }\n');
});

test('a test is bundled with what it imports', () => {
  const program = join(dist, 'dev/libs.common.test.config.test.cjs');
  // Its packages are named relative to dist/dev of the checkout.
  mkdirSync(join(folder, 'dist/dev'), { recursive: true });
  cpSync(program, join(folder, 'dist/dev/config.cjs'));
  assert.is(run(process.execPath, join(folder, 'dist/dev/config.cjs')), 'load config\n{ b: 2 }\n');
});

test('the same sources give the same bytes, and nothing unchanged is written again', () => {
  const state = () =>
    files(dist).map((file) => {
      const { ino, mtimeMs } = statSync(join(dist, file));
      return [file, ino, mtimeMs, readFileSync(join(dist, file), 'latin1').length];
    });
  const before = state();
  assert.is(bundle().status, 0);
  assert.equal(state(), before);
  const bytes = files(dist).map((file) => readFileSync(join(dist, file), 'latin1'));
  rmSync(dist, { recursive: true });
  assert.is(bundle().status, 0);
  assert.equal(
    files(dist).map((file) => readFileSync(join(dist, file), 'latin1')),
    bytes,
  );
});

test('a broken program is named with its place and leaves the others alone', () => {
  const broken = join(folder, 'libs/common/test/broken.test.ts');
  writeFileSync(broken, "\nimport './gone.ts';\n");
  const { status, stderr } = bundle();
  rmSync(broken);
  assert.is(status, 1);
  assert.is(
    stderr,
    [
      'libs/common/test/broken.test.ts:2:7: Could not resolve "./gone.ts"',
      'build: libs/common/test/broken.test.ts could not be bundled',
      '',
    ].join('\n'),
  );
  assert.ok(files(dist).includes('dev/libs.common.test.config.test.cjs'));
  assert.ok(files(dist).includes('bin/runner-a'));
});

test('what is no longer built disappears', () => {
  rmSync(join(folder, 'tools/runner-a/src/commands/test.ts'));
  const main = join(folder, 'tools/runner-a/src/main.ts');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^.*commands\/test.ts.*$/m, ''));
  assert.is(bundle().status, 0);
  assert.equal(
    files(dist).filter((file) => /^(lib|vendor)\//.test(file)),
    [
      'lib/askpass',
      'lib/precompile-server.cjs',
      'lib/precompile.cjs',
      'lib/runner-a/config.cjs',
      'lib/runner-a/help.cjs',
      'lib/runner-a/list.cjs',
      'lib/runner-a/main.cjs',
      'lib/runner-a/swift/main.cjs',
      'lib/runner-a/swift/wire.cjs',
      'vendor/yaml.cjs',
    ],
  );
});

test.run();
