/** Every field that a command prints as JSON is documented in the README of its tool. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startCodeHost } from '@runner/testing/code-host';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const TOKEN = 'plain-token-0123456789';

/** The README of a tool. */
function readme(tool: string): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) folder = dirname(folder);
  return readFileSync(join(folder, 'tools', tool, 'README.md'), 'utf8');
}

/** Names of all fields of a value, at any depth. */
function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
}

/** A state in which no part is empty. */
function fullState(): object {
  const version = { version: 'v1', commit: 'c', release: 'r', deployed_at: 't', deploy_id: 'd' };
  return {
    repo: 'acme/full',
    branch: 'main',
    instances: { default: { current: version, previous: [version] } },
    failures: { commit: 'c', count: 1, last_at: 't', stage: 's' },
    held: { commit: 'c', since: 's', reason: 'r' },
    deploying: {
      deploy_id: 'd',
      pid: 1,
      started: 't',
      boot_id: 'b',
      commit: 'c',
      version: 'v',
      instance: 'i',
      stage: 's',
    },
  };
}

test('every field is documented by the tool that prints it', async () => {
  const root = join(temporaryFolder('readme'), 'root');
  const host = await startCodeHost({ tokens: { [TOKEN]: { login: 'octo', scopes: ['repo'] } } });
  const env = { RUNNER_CODE_HOST_API_URL: host.apiUrl };
  const documented = async (tool: string, args: string[], elsewhere = '') => {
    const { stdout, stderr } = await run(tool, [...args, '--json'], { root, env, stdin: TOKEN });
    const fields = fieldsOf(JSON.parse(stdout));
    assert.ok(fields.length > 0, `${tool} ${args.join(' ')}: ${stderr}`);
    const text = readme(tool) + elsewhere;
    const missing = fields.filter((field) => !text.includes(`\`${field}\``));
    assert.equal(missing, [], `${tool} ${args.join(' ')}`);
  };
  await documented('runner-add', ['--repo', 'acme/shop', '--branch', 'main', '--token', '-']);
  writeFileSync(join(root, 'state/full.json'), JSON.stringify(fullState()));
  await documented('runner-list', [], readme('runner-status'));
  await documented('runner-status', ['full']);
  await documented('runner-tokens', ['list']);
  await documented('runner-tokens', ['test', 'shop']);
  await documented('runner-tokens', ['test', '--all']);
  await documented('runner-tokens', ['rekey', '--dry-run']);
  host.revoke(TOKEN);
  await documented('runner-tokens', ['test', 'shop']);
  await host.close();
  await documented('runner-tokens', ['test', 'shop']);
  mkdirSync(join(root, 'logs'));
  const failure = '{"event":"DeployFailure","app":"shop","version":"v1","error":"x"}\n';
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), failure);
  await documented('runner-debug', ['last-error', 'shop']);
  chmodSync(join(root, 'logs/deploy-events.jsonl'), 0o666);
  await documented('runner-debug', ['last-error', 'shop']);
  await documented('runner-debug', ['extract']);
  await documented('runner-audit', ['verify']);
  await documented('runner-doctor', ['--offline']);
  await documented('runner-completion', ['bash']);
});

test.run();
