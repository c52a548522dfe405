/** Requests of every method and path: nothing changes, no secret is in an answer. `PAGE_REQUESTS` is their number. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { join } from 'node:path';
import { randomOf } from '@runner/testing/random';
import { findSecret } from '@runner/testing/secret-search';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, canShare, startDashboard } from '../../../tests/eyes/dashboard.ts';
import { makeEyesRoot } from '../../../tests/eyes/root.ts';

const REQUESTS = Number(process.env.PAGE_REQUESTS ?? 4_000);
const AT_ONCE = 20;
const SECRETS = [
  'Zq8Planted0MasterKey1',
  'Zq8Planted0AppSecret2',
  'Zq8Planted0ChatToken3',
  'Zq8Planted0Message4',
];
const PATHS = [
  '/',
  '/events',
  '/app/shop',
  '/app/blog',
  '/app/shop/events',
  '/app/nope',
  '/app/%00',
  '/app/..%2f..%2fmkey',
];
const PIECES = [
  '/',
  '..',
  '%2e%2e',
  'app',
  'shop',
  'events',
  'state',
  'mkey',
  'config.yml',
  '%',
  '?',
  '=',
  '\\',
  '%ff',
  '//',
  'é',
  ':80',
  '%0d%0aX: y',
  'a'.repeat(2_000),
];

/** Everything below a folder: names, modes, sizes, times of change, content. */
function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true }).map(String).sort()) {
    const stat = statSync(join(folder, name));
    hash.update(`${name} ${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}\n`);
    if (stat.isFile()) hash.update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

(canShare ? test : test.skip)(
  'requests of all methods and paths change nothing, and find no secret',
  async () => {
    const paths = makeEyesRoot(5, true);
    const [key = '', secret = '', token = '', message = ''] = SECRETS;
    const write = (path: string, text: string) => writeFileSync(path, text, { mode: 0o600 });
    write(paths.mkey, key);
    write(paths.statementKey, key);
    write(paths.secrets('shop'), secret);
    write(paths.config, `notify: { telegram_bot_token: "${token}" }\n`);
    write(join(paths.notifySpool, '0abcdefgh-0000.telegram.json'), message);
    const { port, child, stderr } = await startDashboard(paths.root);
    const before = hashOf(paths.root);
    const random = randomOf(7);
    const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
    const pathOf = () =>
      random() < 0.4
        ? pick(PATHS)
        : `/${Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(PIECES)).join(pick(['/', '']))}`;
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, () => {
        const method = random() < 0.5 ? 'GET' : pick(METHODS);
        return ask(
          port,
          encodeURI(pathOf()),
          method,
          random() < 0.1 && method !== 'GET' ? 'x'.repeat(5_000) : undefined,
        );
      });
      for (const { status, text, headers } of await Promise.all(batch)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const whole = text + JSON.stringify(headers);
        for (const each of SECRETS) assert.equal(findSecret(whole, each), []);
      }
    }
    console.log(
      `(${REQUESTS} requests: ${[...statuses]
        .sort()
        .map(([status, count]) => `${status} ${count}`)
        .join(', ')})`,
    );
    assert.equal(
      [...statuses.keys()].filter((status) => status >= 500 || status < 0),
      [],
    );
    assert.is(hashOf(paths.root), before);
    assert.is(child.exitCode, null);
    assert.is(stderr().split('\n').length, 2, stderr());
    assert.is((await ask(port, '/')).status, 200);
  },
);

test.run();
