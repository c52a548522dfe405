/**
 * `npm run bench -- tokens`: what `tokens list` costs beside `node -e 0` at 10, 1,000 and 10,000
 * apps, how much memory it takes there, and `tokens test` against a code host on loopback.
 * `--rounds N` (default 15). The status is 1 when a budget is missed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import { createKeyring } from '@runner/common/tokens/keyring';
import { seal } from '@runner/common/tokens/vault';
import { temporaryFolder } from '@runner/testing/temp';
import { type Contestant, compare, FLOOR, printTable } from './harness/measure.ts';
import { bin, printSetting, roundsWanted } from './harness/setting.ts';

const TOKENS = bin('runner-tokens');
/** Largest resident memory of `tokens list` at 10,000 apps, in MB. */
const MEMORY_BUDGET = 150;

/** A root with so many apps, ten to a token; a state file as it is after some deploys. */
function rootWith(count: number): string {
  const root = join(temporaryFolder('bench'), 'root');
  const paths = pathsOf(root);
  const keyring = createKeyring(paths, {});
  mkdirSync(paths.stateDir, { mode: 0o700 });
  const time = '2026-01-02T03:04:05.678Z';
  for (let number = 0; number < count; number += 1) {
    const app = `app${number}`;
    const token = `ghp_${String(Math.floor(number / 10)).padStart(36, '0')}`;
    const version = () => ({
      version: 'v1.2.3',
      commit: randomBytes(20).toString('hex'),
      release: '20260102T030405Z-0123456789ab',
      deployed_at: time,
      deploy_id: randomBytes(4).toString('hex'),
    });
    const state = {
      version: 1,
      app,
      repo: `acme/${app}`,
      branch: 'main',
      created_at: time,
      updated_at: time,
      state: { repohost_token: seal(new Secret(token), app, keyring, false) },
      instances: { default: { current: version(), previous: [version(), version()] } },
      failures: null,
      held: null,
      deploying: null,
      last_checked: time,
    };
    writeFileSync(paths.state(app), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  }
  return root;
}

/** A code host in a process of its own: this one waits for those it measures. */
const CODE_HOST = `require('node:http').createServer((request, response) => {
  response.setHeader('x-oauth-scopes', 'repo, read:org');
  response.setHeader('content-type', 'application/json');
  response.end('{"login":"octocat","id":1}');
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

async function startCodeHost(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, ['-e', CODE_HOST], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill());
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data).trim())),
  );
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() };
}

/** The least that Node can do for a list: read, parse, decrypt and hash, with no check of anything. */
const LEAST = `const fs = require('node:fs');
const crypto = require('node:crypto');
const root = process.env.RUNNER_ROOT;
const key = Buffer.from(fs.readFileSync(root + '/mkey', 'utf8').trim(), 'base64url');
const apps = new Map();
for (const name of fs.readdirSync(root + '/state')) {
  const { state } = JSON.parse(fs.readFileSync(root + '/state/' + name, 'utf8'));
  const [head, , iv, text, tag] = state.repohost_token.split('.');
  const bytes = (part) => Buffer.from(part, 'base64url');
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, bytes(iv), { authTagLength: 16 });
  decipher.setAuthTag(bytes(tag)).setAAD(Buffer.from(head));
  const token = decipher.update(bytes(text));
  decipher.final();
  const digest = crypto.hash('sha256', token, 'hex');
  apps.set(digest, (apps.get(digest) ?? 0) + 1);
}`;

/** Largest resident size of `tokens list` in MB, from GNU time; undefined where it is missing. */
function memoryOf(root: string): number | undefined {
  if (!existsSync('/usr/bin/time')) return undefined;
  const { stderr } = spawnSync(
    '/usr/bin/time',
    ['-f', '%M', process.execPath, TOKENS, 'list', '--json'],
    { env: { PATH: process.env.PATH, RUNNER_ROOT: root }, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  return Number(stderr.trim().split('\n').at(-1)) / 1024;
}

async function main(): Promise<void> {
  const rounds = roundsWanted(15);
  printSetting('Tokens', rounds);
  const roots = [10, 1000, 10_000].map((count) => [count, rootWith(count)] as const);
  const budgets: Readonly<Record<number, number>> = { 10: 1.35, 1000: 2.3, 10000: 10 };
  const list = roots.map(
    ([count, root]): Contestant => ({
      name: `tokens list, ${count} apps`,
      file: process.execPath,
      args: [TOKENS, 'list'],
      env: { RUNNER_ROOT: root },
      budget: budgets[count] as number,
    }),
  );
  const least = roots.map(
    ([count, root]): Contestant => ({
      name: `the least for ${count} apps`,
      file: process.execPath,
      args: ['-e', LEAST],
      env: { RUNNER_ROOT: root },
    }),
  );
  const kept = [printTable('Listing tokens', compare([FLOOR, ...list, ...least], rounds))];
  const memory = memoryOf(roots[2]?.[1] as string);
  if (memory !== undefined) {
    kept.push(memory <= MEMORY_BUDGET);
    process.stdout.write(
      `\nmemory at 10000 apps: ${memory.toFixed(0)} MB of ${MEMORY_BUDGET} MB, ${memory <= MEMORY_BUDGET ? 'kept' : 'MISSED'}\n`,
    );
  }
  const host = await startCodeHost();
  const env = { RUNNER_ROOT: roots[0]?.[1] as string, RUNNER_CODE_HOST_API_URL: host.url };
  const contestant = (name: string, args: string[], budget?: number): Contestant => ({
    name,
    file: process.execPath,
    args,
    env,
    ...(budget !== undefined && { budget }),
  });
  // For comparison: the cheapest request that Node itself can make.
  const bare = `require('node:http').get('${host.url}/user', (answer) => answer.resume())`;
  kept.push(
    printTable(
      'Asking a code host on loopback',
      compare(
        [
          FLOOR,
          contestant('tokens test', [TOKENS, 'test', 'app0'], 4),
          contestant('node:http, one request and no more', ['-e', bare]),
        ],
        rounds,
      ),
    ),
  );
  host.stop();
  if (kept.includes(false)) process.exitCode = 1;
}

void main();
