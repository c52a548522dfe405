/** The code that V8 made before: it is used when it fits, and nothing depends on it. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const folder = temporaryFolder('precompile');
const dist = join(folder, 'dist');
for (const part of ['bin', 'lib', 'vendor', 'package.json']) {
  cpSync(join(distFolder(), part), join(dist, part), { recursive: true });
}
const NO_APPS = '{"count":0,"apps":[],"unreadable":[]}\n';
const hook = join(folder, 'hook.cjs');
writeFileSync(
  hook,
  `const vm = require('node:vm');
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    const used = options.cachedData !== undefined && this.cachedDataRejected === false;
    process._rawDebug(\`\${used ? 'kept' : 'fresh'} \${options.filename.slice(${dist.length + 1})}\`);
  }
};
`,
);

function precompile() {
  const program = join(dist, 'lib/precompile.cjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Runs the copy of an executable; stderr tells for each file whether kept code was used. */
function runner(tool: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', hook, join(dist, 'bin', tool), ...args, '--root', folder],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

const folderOf = (tool: string) => {
  const name = readdirSync(join(dist, 'cache')).find((each) => each.startsWith(`${tool}-`));
  return join(dist, 'cache', name ?? 'none');
};

test('without kept code every file is compiled, and nothing is said about it', () => {
  assert.equal(runner('runner-list', '--json'), {
    status: 0,
    stdout: NO_APPS,
    stderr: 'fresh lib/runner-list/main.cjs\nfresh lib/runner-list/listing.cjs\n',
  });
});

test('after precompiling, the code of every file is taken from what was kept', () => {
  assert.equal(precompile(), { status: 0, stdout: '', stderr: '' });
  assert.equal(runner('runner-list', '--json'), {
    status: 0,
    stdout: NO_APPS,
    stderr: 'kept lib/runner-list/main.cjs\nkept lib/runner-list/listing.cjs\n',
  });
  for (const tool of readdirSync(join(dist, 'bin')).filter((name) => name !== 'runner')) {
    assert.is(runner(tool, '--help').stderr, `kept lib/${tool}/main.cjs\n`);
  }
});

test('precompiling again does nothing, after a run that was killed it does what is missing', () => {
  const file = join(folderOf('runner-list'), 'lib+runner-list+main.cjs');
  rmSync(file);
  assert.is(precompile().status, 0);
  assert.not.ok(existsSync(file));
  rmSync(join(folderOf('runner-list'), 'done'));
  assert.is(precompile().status, 0);
  assert.ok(existsSync(file));
});

for (const [what, damage] of [
  ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['empty', () => Buffer.alloc(0)],
  ['something else', () => Buffer.from('not code')],
] as const) {
  test(`kept code that is ${what} is not taken`, () => {
    const file = join(folderOf('runner-list'), 'lib+runner-list+main.cjs');
    const before = readFileSync(file);
    writeFileSync(file, damage(before));
    const { status, stdout, stderr } = runner('runner-list', '--version');
    writeFileSync(file, before);
    assert.equal([status, /^runner-list \d/.test(stdout)], [0, true]);
    assert.is(stderr, 'fresh lib/runner-list/main.cjs\n');
  });
}

test('kept code of another build is neither taken nor left', () => {
  const program = join(dist, 'bin/runner-list');
  const old = folderOf('runner-list');
  const launcher = readFileSync(program, 'utf8');
  writeFileSync(program, launcher.replace(/-[0-9a-f]{12}-/, '-0123456789ab-'));
  assert.is(runner('runner-list', '--help').stderr, 'fresh lib/runner-list/main.cjs\n');
  assert.is(precompile().status, 0);
  assert.is(runner('runner-list', '--help').stderr, 'kept lib/runner-list/main.cjs\n');
  assert.not.ok(existsSync(old));
});

test('a folder that cannot be written is told in one sentence', () => {
  rmSync(join(dist, 'cache'), { recursive: true });
  writeFileSync(join(dist, 'cache'), '');
  const { status, stdout, stderr } = precompile();
  assert.equal([status, stdout], [1, '']);
  assert.match(stderr, /^precompile\.cjs: [^\n]*\n$/);
});

test.run();
