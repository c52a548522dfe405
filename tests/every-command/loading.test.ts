/** What each command loads: a regression of the start-up is found without a clock. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { distFolder, run, shell } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allCommands } from './commands.ts';

const folder = temporaryFolder('loading');
const hook = join(folder, 'hook.cjs');
const result = join(folder, 'loaded.json');
writeFileSync(
  hook,
  `const { writeFileSync } = require('node:fs');
const vm = require('node:vm');
const files = [];
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    files.push(options.filename);
  }
};
process.on('exit', () => {
  writeFileSync(process.env.LOADED_RESULT, JSON.stringify({
    files,
    builtins: process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')),
  }));
});
`,
);
const env = { NODE_OPTIONS: `--require=${JSON.stringify(hook)}`, LOADED_RESULT: result };

/** Built-in modules that cost a good part of a start; a command loads them when it needs them. */
const SLOW = ['child_process', 'crypto', 'dns', 'http', 'https', 'net', 'tls', 'tty', 'zlib'];

interface Loaded {
  /** Files of ours, relative to dist; a number that the bundler gave is left out. */
  readonly files: string[];
  /** The slow built-in modules among those that `node -e 0` does not load. */
  readonly builtins: string[];
}

function lastResult(): { files: string[]; builtins: string[] } {
  const loaded = JSON.parse(readFileSync(result, 'utf8'));
  rmSync(result);
  return loaded;
}

let floor: string[] | undefined;

/** Runs a tool and tells what it loaded; a wanted status, so that the right path was taken. */
async function loadedBy(tool: string, args: readonly string[], root: string): Promise<Loaded> {
  if (floor === undefined) {
    await shell(`"${process.execPath}" -e 0`, { env });
    floor = lastResult().builtins;
  }
  const { status, stderr } = await run(tool, args, { root, env });
  assert.equal([status, stderr], [0, ''], `${tool} ${args.join(' ')}`);
  const { files, builtins } = lastResult();
  return {
    files: files
      .map((file) => file.replace(`${distFolder()}/`, '').replace(/shared-\d+/, 'shared'))
      .sort(),
    builtins: SLOW.filter((name) => {
      const full = `NativeModule ${name}`;
      return builtins.includes(full) && !floor?.includes(full);
    }),
  };
}

/** A root with an app that has a token, one that has none, and a failure in the log. */
async function madeRoot(): Promise<string> {
  const root = join(temporaryFolder('loading'), 'root');
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  await run('runner-add', args, { root, stdin: 'a-token-0123456789' });
  mkdirSync(join(root, 'logs'), { recursive: true });
  const failure = { event: 'DeployFailure', app: 'shop', version: 'v1', error: 'x' };
  const record = { timestamp: '2026-05-04T09:30:00.000Z', ...failure };
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), `${JSON.stringify(record)}\n`);
  // Whoever reads it needs the YAML parser; none of these commands should.
  writeFileSync(join(root, 'config.yml'), 'notify: {}\n');
  return root;
}

test('version and help of a tool load nothing, help of a command the main file', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words } of [...tools, ...commands]) {
    for (const option of words.length === 0 ? ['--help', '--version'] : ['--help']) {
      const loaded = await loadedBy(tool, [...words, option], folder);
      const files = words.length === 0 ? [] : [`lib/${tool}/main.cjs`];
      assert.equal(loaded, { files, builtins: [] }, `${tool} ${words} ${option}`);
    }
  }
});

for (const [command, parts, builtins] of [
  ['list', ['main', 'listing'], []],
  ['list --json', ['main', 'listing'], []],
  ['status shop', ['main', 'state'], []],
  ['tokens list', ['list/main'], ['crypto']],
  ['audit emit DeployStarted --project shop --version v1', ['emit/main'], []],
  ['audit emit', ['emit/cleaning', 'emit/main', 'emit/shared', 'emit/streaming'], []],
  ['audit tail', ['cleaning', 'main', 'shared', 'shared', 'tailing'], []],
  ['audit list', ['cleaning', 'main', 'listing', 'shared', 'shared'], []],
  ['audit verify', ['main', 'shared', 'shared', 'verifying'], []],
  ['notify flush', ['main'], []],
  ['notify queue list', ['main', 'listing', 'shared'], []],
  ['debug last-error shop', ['last-error/main'], []],
  ['debug last-error shop --json', ['last-error/main'], []],
] as const) {
  test(`runner ${command} loads its own part, and none of yaml, undici, prompts and colours`, async () => {
    const [name = '', ...args] = command.split(' ');
    const tool = `runner-${name}`;
    const loaded = await loadedBy(tool, args, await madeRoot());
    const files = parts.map((part) => `lib/${tool}/${part}.cjs`).sort();
    assert.equal(loaded, { files, builtins });
  });
}

test('add needs keys and a lock, but neither yaml nor undici', async () => {
  const args = ['--repo', 'acme/blog', '--branch', 'main', '--public'];
  const { files } = await loadedBy('runner-add', args, await madeRoot());
  assert.equal(files, ['lib/runner-add/main.cjs', 'lib/runner-add/registration.cjs']);
});

test('what bypasses the guards is loaded for that alone', async () => {
  const root = await madeRoot();
  const { status } = await run('runner-debug', ['last-error', 'shop', '--insecure'], { root, env });
  const names = lastResult().files.map((file) => basename(file));
  assert.equal([status, names], [0, ['main.cjs', 'bypass.cjs']]);
});

test('the keys are loaded for a failure whose text may hold a token, and for no other', async () => {
  const root = await madeRoot();
  for (const [error, builtins] of [
    ['build: `npm run build` ended with status 1\nat src/index.ts:12 (a1b2c3d4e5f6)', []],
    ['login with another-token-77 failed', ['crypto']],
  ] as const) {
    const record = { event: 'DeployFailure', app: 'shop', version: 'a1b2c3d4e5f6', error };
    writeFileSync(join(root, 'logs/deploy-events.jsonl'), `${JSON.stringify(record)}\n`);
    const loaded = await loadedBy('runner-debug', ['last-error', 'shop'], root);
    assert.equal(loaded.builtins, builtins);
    assert.is(loaded.files.length, builtins.length + 1);
  }
});

test("the chats' credentials cost no file; YAML only in another form, for a text that may hold one", async () => {
  const root = await madeRoot();
  const hook = 'https://hooks.example.org/api/webhooks/42/mywebhooksecretvalue';
  const config = (text: string) => writeFileSync(join(root, 'config.yml'), text);
  chmodSync(join(root, 'config.yml'), 0o600);
  const filesFor = async (error: string) => {
    const record = { event: 'DeployFailure', app: 'shop', version: 'v1', error };
    writeFileSync(join(root, 'logs/deploy-events.jsonl'), `${JSON.stringify(record)}\n`);
    return (await loadedBy('runner-debug', ['last-error', 'shop'], root)).files;
  };
  const ordinary = 'build: `npm run build` ended with status 1';
  const main = ['lib/runner-debug/last-error/main.cjs'];
  config(`notify:\n  discord_webhook: ${hook}\n`);
  assert.equal(await filesFor(ordinary), main);
  assert.equal(await filesFor('no mywebhooksecretvalue'), main);
  config(`notify: { discord_webhook: "${hook}" }\n`);
  assert.equal(await filesFor(ordinary), main);
  assert.ok((await filesFor('no mywebhooksecretvalue')).includes('vendor/yaml.cjs'));
});

test('YAML and colours are loaded when they are asked for', async () => {
  const root = await madeRoot();
  const yaml = await loadedBy('runner-list', ['-o', 'yaml'], root);
  assert.ok(yaml.files.includes('vendor/yaml.cjs'));
  const colours = await loadedBy('runner-list', ['--color', 'always'], root);
  assert.ok(colours.files.includes('lib/runner-list/picocolors.cjs'));
});

test.run();
