/** What the short and the long tests of emit share. */
import { type RunOptions, run } from '@runner/testing/run';
import { record as runnerRecord } from './log.ts';

/** A record of another tool. */
export const record = (version: string, more: Readonly<Record<string, unknown>> = {}) =>
  runnerRecord(version, { ...more, source: 'make' });

export const emit = (root: string, args: readonly string[], options: RunOptions = {}) =>
  run('runner-audit', ['emit', ...args], { root, ...options });

export const SHOP = ['--project', 'shop', '--version', 'v1'] as const;
