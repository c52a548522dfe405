/** What the short and the long tests of last error share. */
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { logText, rootWith, writeLog } from './log.ts';

export const lastError = (root: string, ...args: string[]) =>
  run('runner-debug', ['last-error', ...args], { root });

/** A root with the app `shop` and this log. */
export function rootWithLog(...records: unknown[]): string {
  const root = rootWith('shop', 'api', 'api-2');
  writeLog(root, logText(records));
  return root;
}

/** The version that is found for an app. */
export async function found(root: string, app = 'shop', told = ''): Promise<unknown> {
  const { stdout, stderr } = await lastError(root, app, '--json');
  assert.is(stderr, told);
  return JSON.parse(stdout)?.version ?? null;
}
