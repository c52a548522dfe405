/** A root whose state files are written by hand, as a deploy leaves them. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temp.ts';

/** The commit of all versions here. */
export const COMMIT = '0123456789abcdef0123456789abcdef01234567';

/** A version that is or was active. */
export function deployed(version: string, more: object = {}): object {
  return {
    version,
    commit: COMMIT,
    release: '20260504093000-0123456789ab',
    deployed_at: '2026-05-04T09:30:12.345Z',
    deploy_id: 'a1b2c3d4',
    ...more,
  };
}

/** A newer commit, which fails. */
export const FAILED = 'fedcba9876543210fedcba9876543210fedcba98';

/** Number of failed builds of the newer commit. */
export const failures = (count: number) => ({
  commit: FAILED,
  count,
  last_at: '2026-05-04T10:00:00.000Z',
  stage: 'build',
});

/** The commit of all versions, rolled back by hand. */
export const HELD = { commit: COMMIT, since: '2026-05-04T11:00:00.000Z', reason: 'rolled back' };

/** A deploy that this test's own process seems to run. */
export const DEPLOYING = {
  deploy_id: 'a1b2c3d4',
  pid: process.pid,
  started: '2026-05-04T12:00:00.000Z',
  boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
  commit: COMMIT,
  version: 'v3',
  instance: 'default',
  stage: 'health',
};

/** One whose process is of an earlier boot. */
export const INTERRUPTED = { ...DEPLOYING, boot_id: '00000000-0000-0000-0000-000000000000' };

/** `instances` of an app that runs one version. */
export const running = (version: string) => ({
  default: { current: deployed(version), previous: [deployed('v1')] },
});

/** The state file of an app called `app` from `acme/<app>#main`; a text stands as it is. */
export function writeState(root: string, app: string, more: object | string = {}): void {
  mkdirSync(join(root, 'state'), { recursive: true, mode: 0o700 });
  const state = { version: 1, app, repo: `acme/${app}`, branch: 'main', ...Object(more) };
  const text = typeof more === 'string' ? more : JSON.stringify(state);
  // Whole, as the product writes it: a command may be reading it.
  const file = join(root, 'state', `${app}.json`);
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function rootWith(apps: Readonly<Record<string, object | string>>): string {
  const root = temporaryFolder('list');
  for (const [app, more] of Object.entries(apps)) writeState(root, app, more);
  return root;
}
