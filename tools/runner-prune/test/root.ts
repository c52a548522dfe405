/** A root with an app that has something of everything that prune removes or keeps. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

export const COMMIT = 'a'.repeat(40);
export const DAY = 86_400;

const deployed = (release: string) => ({
  version: release,
  commit: COMMIT,
  release,
  deploy_id: `id-${release}`,
  deployed_at: '2026-11-01T00:00:00.000Z',
});
const inSlot = (release: string) => ({
  release,
  version: release,
  commit: COMMIT,
  deploy_id: 'd',
  port: 1,
  boot_id: 'b',
  started_at: '2026-11-01T00:00:00.000Z',
});

export function put(path: string, text = 'x'): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

/** A root with `shop`: releases r1 to r9, of which the state names five; 25 logs, a killed build, a mirror. */
export async function newRoot(more: object = {}): Promise<string> {
  const root = join(temporaryFolder('prune'), 'root');
  const args = ['--repo', 'acme/shop', '--branch', 'main', '--public'];
  assert.is((await run('runner-add', args, { root })).status, 0);
  const own = join(root, 'apps/shop');
  for (let n = 1; n <= 9; n += 1) put(join(own, `releases/r${n}/big`), 'x'.repeat(100_000));
  put(join(own, 'releases/.tmp-dead/part'));
  put(join(own, 'files/r1.deploy.yml'));
  put(join(own, 'instances/default/shared/data'), 'keep me');
  symlinkSync('../../releases/r5', join(own, 'instances/default/current'));
  for (let n = 1; n <= 25; n += 1) {
    const log = join(root, `logs/deploys/shop/log${n}.log`);
    put(log);
    utimesSync(log, n * DAY, n * DAY);
  }
  spawnSync('git', ['init', '-q', '--bare', join(own, 'repo.git')]);
  const path = join(root, 'state/shop.json');
  const state = {
    ...JSON.parse(readFileSync(path, 'utf8')),
    instances: {
      default: {
        current: deployed('r5'),
        previous: [deployed('r4'), deployed('r3')],
        broken: null,
        slots: { a: inSlot('r6'), b: null },
        before_traffic: deployed('r7'),
      },
    },
    ...more,
  };
  writeFileSync(path, JSON.stringify(state));
  return root;
}

export const prune = (root: string, ...args: string[]) => run('runner-prune', args, { root });
export const releasesOf = (root: string) => readdirSync(join(root, 'apps/shop/releases')).sort();
export const KEPT = ['r3', 'r4', 'r5', 'r6', 'r7'];
