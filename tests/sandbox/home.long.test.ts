/** HOME in the sandbox: what a commit leaves there, and what it cannot. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { accountHome } from '@runner/deploy/sandbox/hidden';
import { run, shellWord } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { home, inHome, REQUIRED, test } from './home.ts';

const PLANT = [
  `printf '#!/bin/sh\\necho planted >> "$RUNNER_SHARED/proof"; exec sh "$@"\\n' > "$HOME/.evil"`,
  'chmod +x "$HOME/.evil"',
  'echo "script-shell=$HOME/.evil" > "$HOME/.npmrc"',
  'mkdir -p "$HOME/.config" && echo x > "$HOME/.config/x"',
].join('; ');

const BUILD = 'build: npm run --silent build\n';

const PACKAGE = { 'package.json': '{"scripts": {"build": "echo built"}}' };

for (const [where, deploy] of [
  ['a build', `build: ${JSON.stringify(PLANT)}\n`],
  ['a hook', `hooks: { post_deploy: ${JSON.stringify(PLANT)} }\n`],
  ['an app', `start: { type: process, run: ${JSON.stringify(`${PLANT}; exec sleep 60`)} }\n`],
] as const) {
  test(`configuration that ${where} writes into HOME is not there for the next commit`, () =>
    inHome(async (world, folder) => {
      await world.push('v1', { deploy, files: PACKAGE });
      assert.is((await world.deploy([], REQUIRED)).status, 0);
      const look = 'hooks: { post_deploy: "! ls ~/.npmrc ~/.evil ~/.config" }\n';
      await world.push('v2', { deploy: BUILD + look, files: PACKAGE });
      const done = await world.deploy([], REQUIRED);
      assert.is(done.status, 0, done.stderr);
      const shared = join(world.root, 'apps/shop/instances/default/shared');
      assert.not(existsSync(join(shared, 'proof')));
      assert.not(existsSync(join(folder, '.npmrc')));
    }));
}

test('a folder of the home on PATH shows its programs, and nothing beside them', () =>
  inWorld(async (world) => {
    const other = temporaryFolder('other-home');
    const files = {
      '.cargo/bin/cargo-like': 'x',
      '.cargo/credentials.toml': 'secret',
      '.local/bin/tool-like': 'x',
      '.local/share/keyrings/login': 'secret',
      '.nvm/versions/v1/bin/node-like': 'x',
      '.nvm/versions/v1/lib/module.js': 'x',
      '.ssh/id': 'secret',
      'tools/node_modules/.bin/one': 'x',
      'tools/node_modules/pnpm/pnpm.js': 'x',
      'tools/secret': 'secret',
      'uv/linked/.env': 'secret',
      'uv/linked/bin/linked': 'x',
      'uv/linked/lib/module.py': 'x',
      'uv/other/bin/other': 'secret',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(other, path, '..'), { recursive: true });
      writeFileSync(join(other, path), text, { mode: 0o755 });
    }
    for (const to of ['uv/linked/bin/linked', 'tools/node_modules/pnpm/pnpm.js', '.ssh/id'])
      symlinkSync(join(other, to), join(other, '.local/bin', `to-${basename(to)}`));
    const folders = ['.cargo/bin', '.local/bin', '.nvm/versions/v1/bin', '..'];
    const PATH = `${folders.map((each) => join(other, each)).join(':')}:${process.env.PATH}`;
    const find = (name: string) =>
      JSON.stringify(`find ${shellWord(other)} -type f | sort > "$RUNNER_SHARED/${name}"`);
    const deploy = `build: ${find('build')}\nhooks: { post_deploy: ${find('hook')} }\n`;
    await world.push('v1', { deploy });
    const done = await world.deploy([], { ...REQUIRED, HOME: other, PATH });
    assert.is(done.status, 0, done.stderr);
    const programs = Object.keys(files).filter((path) => files[path as keyof typeof files] === 'x');
    for (const name of ['build', 'hook'])
      assert.equal(
        readFileSync(join(world.root, 'apps/shop/instances/default/shared', name), 'utf8'),
        programs.map((path) => `${join(other, path)}\n`).join(''),
      );
  }));

test('programs that a commit leaves in HOME are not there for the next commit', () =>
  inWorld(async (world) => {
    const plant = [
      '.rustup/toolchains/evil/bin',
      '.nvm',
      '.bun/bin',
      '.local/share/uv',
      '.local/bin',
    ]
      .map((folder) => `mkdir -p ~/${folder} && echo evil > ~/${folder}/tool`)
      .join(' && ');
    await world.push('v1', { deploy: `build: ${JSON.stringify(plant)}\n` });
    assert.is((await world.deploy([], REQUIRED)).status, 0);
    const look =
      'build: "! find ~ -name tool | grep ."\nhooks: { post_deploy: "! find ~ -name tool | grep ." }\n';
    await world.push('v2', { deploy: look });
    const done = await world.deploy([], REQUIRED);
    assert.is(done.status, 0, done.stderr);
  }));

test('the home of the account is hidden, whatever HOME says, and PATH still leads to its programs', () =>
  inWorld(async (world) => {
    const other = temporaryFolder('other-home');
    mkdirSync(join(other, 'tools/bin'), { recursive: true });
    writeFileSync(join(other, 'tools/bin/my-tool'), '#!/bin/sh\necho tool\n', { mode: 0o755 });
    writeFileSync(join(other, 'secret'), 'of the user\n');
    const account = accountHome();
    if (account === undefined)
      return void process.stdout.write('(left out: this account has no home of its own)\n');
    const mark = `.runner-test-${process.pid}`;
    writeFileSync(join(account, mark), 'of the account\n');
    try {
      const [secret, own] = [join(other, 'secret'), join(account, mark)].map(shellWord);
      const look = `my-tool; ! cat ${secret} ${own}; echo x > ${own}-new; true`;
      const deploy = `build: ${JSON.stringify(look)}\nhooks: { post_deploy: ${JSON.stringify(look)} }\n`;
      await world.push('v1', { deploy });
      const env = {
        ...REQUIRED,
        HOME: other,
        PATH: `${other}/tools/bin:${process.env.PATH}`,
      };
      const done = await run('runner-deploy', ['shop', '--verbose'], { root: world.root, env });
      assert.is(done.status, 0, done.stderr);
      assert.not.match(done.stderr, /of the (?:user|account)/);
      assert.match(done.stderr, /\btool\n/);
      assert.not(existsSync(join(account, `${mark}-new`)));
    } finally {
      rmSync(join(account, mark), { force: true });
    }
  }));

home.run();
