/** What each command loads beside its executable: a slower start is found without a clock. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { distFolder, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allCommands } from './commands.ts';

const folder = temporaryFolder('loading');
const hook = join(folder, 'hook.cjs');
const result = join(folder, 'loaded.json');
writeFileSync(
  hook,
  `process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file.endsWith('.cjs') && file !== __filename);
  require('node:fs').writeFileSync(process.env.LOADED_RESULT, JSON.stringify(files));
});
`,
);
const env = { NODE_OPTIONS: `--require=${JSON.stringify(hook)}`, LOADED_RESULT: result };

/** The files of dist/lib that a command loads; it must succeed, so that the right path was taken. */
async function loadedBy(tool: string, args: readonly string[], root: string): Promise<string[]> {
  const { status, stderr } = await run(tool, args, { root, env });
  assert.equal([status, stderr], [0, ''], `${tool} ${args.join(' ')}`);
  const files: string[] = JSON.parse(readFileSync(result, 'utf8'));
  rmSync(result);
  return files.map((file) => file.replace(`${distFolder()}/lib/`, ''));
}

/** A root with an app that has a token, and a failure in the log. */
async function madeRoot(): Promise<string> {
  const root = join(temporaryFolder('loading'), 'root');
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'];
  await run('runner-add', args, { root, stdin: 'a-token-0123456789' });
  mkdirSync(join(root, 'logs'), { recursive: true });
  const failure = { event: 'DeployFailure', app: 'shop', version: 'v1', error: 'x' };
  const record = { timestamp: '2026-05-04T09:30:00.000Z', ...failure };
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), `${JSON.stringify(record)}\n`);
  writeFileSync(join(root, 'config.yml'), 'notify: {}\n', { mode: 0o600 });
  return root;
}

test('help and version load nothing', async () => {
  const { tools, commands } = await allCommands();
  for (const { tool, words } of [...tools, ...commands]) {
    for (const option of words.length === 0 ? ['--help', '--version'] : ['--help']) {
      const title = `${tool} ${words} ${option}`;
      assert.equal(await loadedBy(tool, [...words, option], folder), [], title);
    }
  }
});

for (const [command, files] of [
  ['list', []],
  ['list -o yaml', ['yaml.cjs']],
  ['status shop', []],
  ['tokens list', []],
  ['audit emit DeployStarted --project shop --version v1', []],
  ['audit tail', ['common.cjs']],
  ['audit list', ['common.cjs']],
  ['audit verify', []],
  ['notify flush', []],
  ['notify queue list', []],
  ['debug last-error shop', ['common.cjs']],
  ['debug extract', ['common.cjs', 'extract.cjs']],
  ['start --boot', ['deploy.cjs']],
  ['remove shop --yes', ['deploy.cjs', 'common.cjs', 'yaml.cjs']],
  ['add --repo acme/blog --branch main --public', []],
] as const) {
  test(`runner ${command} loads ${files.join(', ') || 'nothing'}`, async () => {
    const [name = '', ...args] = command.split(' ');
    assert.equal(await loadedBy(`runner-${name}`, args, await madeRoot()), files);
  });
}

test.run();
