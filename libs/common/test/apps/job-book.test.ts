import { type JobEntry, readJobBook } from '@runner/common/apps/job-book';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freshRoot, plant } from '../files/scratch.ts';

test('the book of two thousand jobs that fail can be read', () => {
  const paths = freshRoot();
  const at = '2026-01-01T00:00:00.000Z';
  const reason = `\`./bin/job --queue mail\` ended with status 3`;
  const run = {
    id: '3f9a21c0',
    due: at,
    at,
    ms: 120,
    outcome: 'failed',
    version: 'v1.0.0',
    reason,
  };
  const entry = {
    rules: { when: 'every minute', schedule: {} },
    instance: 'default',
    settled: at,
    next: at,
    run: null,
    waiting: null,
    paused: null,
    trouble: null,
    slow: false,
    runs: Array(20).fill(run),
  } as unknown as JobEntry;
  const jobs = Object.fromEntries(Array.from({ length: 2000 }, (_, name) => [`j${name}`, entry]));
  plant(paths.app('shop').jobs, JSON.stringify({ of: 'default=r1', jobs }));
  assert.is(Object.keys(readJobBook(paths, 'shop')?.jobs ?? {}).length, 2000);
});

test.run();
