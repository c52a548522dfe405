/** An audit log written by hand, and what it holds. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';

export const logPath = (root: string) => join(root, 'logs', 'deploy-events.jsonl');

/** The path of a root that does not exist yet. */
export function newRoot(): string {
  return join(temporaryFolder('audit'), 'root');
}

/** A record as `emit` writes it. */
export function record(
  version: string,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { event_type = 'DeployStarted', project = 'shop' } = more;
  return {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type: 'DeployStarted',
    project: 'shop',
    instance: 'default',
    version,
    deploy_id: 'a1b2c3d4',
    event: event_type,
    app: project,
    ...more,
  };
}

export const line = (value: unknown) => `${JSON.stringify(value)}\n`;

/** Lines of the log without their place in the chain. */
export const unlinked = (text: string) =>
  text.replace(/,"seq":\d+,"prev":"[0-9a-f]{32}"\}$/gm, '}');

/** A root whose log holds this text; `suffix` `.1` is that of a rotated file. */
export function rootWithLog(text: string, suffix = '', root = newRoot()): string {
  mkdirSync(join(root, 'logs'), { recursive: true });
  writeFileSync(logPath(root) + suffix, text);
  return root;
}

/** The log as it stands. */
export function logOf(root: string): string {
  return readFileSync(logPath(root), 'utf8');
}
