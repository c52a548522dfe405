/**
 * `npm run bench -- tokens`: what `tokens list` costs beside `node -e 0` at 10, 1,000 and 10,000
 * apps, how much memory it takes there, and `tokens test` against a code host on loopback.
 * `--rounds N` (default 15). The status is 1 when a budget is missed.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOf } from '@runner/common/foundation/paths';
import { Secret } from '@runner/common/secrets/secret';
import { createKeyring } from '@runner/common/tokens/keyring';
import { seal } from '@runner/common/tokens/vault';
import { temporaryFolder } from '@runner/testing/temp';
import {
  compare,
  conclude,
  FLOOR,
  memoryOf,
  node,
  ours,
  printTable,
  verdict,
} from './harness/measure.ts';
import { besideServices, serveYes } from './harness/services.ts';
import { printSetting, roundsWanted } from './harness/setting.ts';

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
      state: { repohost_token: seal(new Secret(token), app, keyring) },
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

async function measure([url = '']: readonly string[]): Promise<void> {
  const rounds = roundsWanted(15);
  printSetting('Tokens', rounds);
  const sizes = [
    { count: 10, budget: 1.35 },
    { count: 1000, budget: 2.3 },
    { count: 10_000, budget: 10 },
  ].map((each) => ({ ...each, root: rootWith(each.count) }));
  const list = sizes.map(({ count, root, budget }) =>
    ours(`tokens list, ${count} apps`, root, ['runner-tokens', 'list'], { budget }),
  );
  const least = sizes.map(({ count, root }) =>
    node(`the least for ${count} apps`, root, ['-e', LEAST]),
  );
  const kept = [printTable('Listing tokens', compare([FLOOR, ...list, ...least], rounds))];
  const [small = '', , large = ''] = sizes.map(({ root }) => root);
  const memory = memoryOf(ours('memory', large, ['runner-tokens', 'list', '--json']));
  if (memory !== undefined) {
    kept.push(memory <= MEMORY_BUDGET);
    process.stdout.write(
      `\nmemory at 10000 apps: ${memory.toFixed(0)} MB of ${MEMORY_BUDGET} MB, ${verdict(memory <= MEMORY_BUDGET)}\n`,
    );
  }
  const env = { RUNNER_ROOT: small, RUNNER_CODE_HOST_API_URL: url };
  // For comparison: the cheapest request that Node itself can make.
  const bare = `require('node:http').get('${url}/user', (answer) => answer.resume())`;
  const asking = [
    ours('tokens test', small, ['runner-tokens', 'test', 'app0'], { env, budget: 5 }),
    node('node:http, one request and no more', small, ['-e', bare]),
  ];
  kept.push(printTable('Asking a code host on loopback', compare([FLOOR, ...asking], rounds)));
  conclude(kept);
}

void besideServices(async () => [await serveYes()], measure);
