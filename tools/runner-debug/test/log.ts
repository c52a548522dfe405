/** A root with registered apps and an audit log, both written by hand. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';

export const logPath = (root: string) => join(root, 'logs', 'deploy-events.jsonl');

/** A root with these apps and no log. */
export function rootWith(...apps: string[]): string {
  const root = temporaryFolder('debug');
  mkdirSync(join(root, 'state'));
  for (const app of apps) {
    const state = { version: 1, app, repo: `acme/${app}`, branch: 'main' };
    writeFileSync(join(root, 'state', `${app}.json`), JSON.stringify(state));
  }
  return root;
}

/** A failure as the pipeline records it. */
export function failure(version: string, more: object = {}): Record<string, unknown> {
  return {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: 'DeployFailure',
    project: 'shop',
    instance: 'default',
    version,
    deploy_id: 'a1b2c3d4',
    error: `build: exit status 2`,
    ...more,
  };
}

/** Records, or lines as they are, as a file of the log. */
export function logText(records: readonly unknown[]): string {
  return records
    .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    .map((each) => `${each}\n`)
    .join('');
}

/** Writes the log, or with `suffix` a rotated file of it. */
export function writeLog(root: string, content: string | Uint8Array, suffix = ''): void {
  mkdirSync(join(root, 'logs'), { recursive: true });
  writeFileSync(logPath(root) + suffix, content);
}
