/** What each command loads beside its executable: a slower start is found without a clock. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runLoading } from './loaded.ts';

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
    const root = await madeRoot();
    const { status, stderr, loaded } = await runLoading(`runner-${name}`, args, { root });
    // It must succeed, so that the right path was taken.
    assert.equal([status, stderr, loaded], [0, '', files]);
  });
}

test('runner deploy does not load the extractor for a deploy that prints nothing', async () => {
  const git = await startGitServer({ token: 'a-token-0123456789' });
  await git.createRepo('acme/page', { public: true });
  await git.commit('acme/page', { 'index.html': 'hello\n' }, 'one');
  const root = await madeRoot();
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\n`, { mode: 0o600 });
  await run('runner-add', ['--repo', 'acme/page', '--branch', 'main', '--public'], { root });
  const { status, stderr, loaded } = await runLoading('runner-deploy', ['page'], { root });
  assert.is(status, 0, stderr);
  assert.equal(loaded, ['deploy.cjs', 'common.cjs', 'yaml.cjs']);
  await git.close();
});

test.run();
