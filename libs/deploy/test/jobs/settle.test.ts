import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { jobSummaries } from '@runner/common/apps/job-book';
import type { AppState } from '@runner/common/apps/state';
import { pathsOf } from '@runner/common/foundation/paths';
import { settle, withRun } from '@runner/deploy/jobs/settle';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { entryOf, manyDueTimes, nightsAndHours } from './due-times.ts';

const test = suite('due times of jobs');

test('a time that the clock skips or doubles comes once that night, and hours go on', () =>
  nightsAndHours(1, 45));

test('of 1,500 due times none is run twice, and none is lost without a word', () => {
  manyDueTimes(1_500);
});

test('a clock that was set back by more than a day does not keep a job from running', () => {
  const entry = { ...entryOf({ every: '1h' }, 'UTC', {}), settled: '2027-06-01T00:00:00.000Z' };
  const claim = () => ({ result: 'claimed', token: null }) as const;
  const look = { newId: () => '1', claim, isAlive: true, isStopped: false, isHeldUp: false };
  const first = settle(entry, { ...look, now: new Date('2026-06-01T00:30:00Z') });
  assert.equal([first.starts, first.entry.next], [false, '2026-06-01T01:00:00.000Z']);
  const then = settle(first.entry, { ...look, now: new Date('2026-06-01T01:00:01Z') });
  assert.is(then.entry.run?.due, '2026-06-01T01:00:00.000Z');
});

test('of times that wait for a deploy the newest is kept, and the others say so', () => {
  const before = { ...entryOf({ every: '1h' }, 'UTC', { during_deploy: 'wait' }) };
  const claim = () => ({ result: 'claimed', token: null }) as const;
  const look = { newId: () => '1', claim, isAlive: true, isStopped: false, isHeldUp: true };
  const at = (hour: number) => ({ ...look, now: new Date(Date.UTC(2026, 5, 1, hour, 0, 1)) });
  const first = settle({ ...before, settled: '2026-06-01T00:30:00.000Z' }, at(1)).entry;
  const { waiting, runs } = settle(first, at(2)).entry;
  assert.is(waiting, '2026-06-01T02:00:00.000Z');
  assert.equal(
    runs.map(({ due, reason }) => [due, reason]),
    [['2026-06-01T01:00:00.000Z', 'a later time was due, too']],
  );
});

test('times that were skipped are not the last run, however many they are', () => {
  const at = '2026-06-01T00:00:00.000Z';
  const ok = { id: 'ok', due: at, at, ms: 7, outcome: 'ok' as const, version: 'v1' };
  const skip = { ...ok, id: 'skip', ms: 0, outcome: 'skipped' as const };
  let entry = withRun(entryOf({ every: '1h' }, 'UTC', {}), ok);
  for (let count = 0; count < 50; count += 1) entry = withRun(entry, skip);
  assert.equal([entry.runs.length, entry.runs.at(-1)?.id], [20, 'ok']);
  const paths = pathsOf(temporaryFolder('jobs'));
  const path = paths.app('shop').jobs;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ of: '', jobs: { tick: entry } }));
  const state = { app: 'shop', instances: { default: { current: { jobs: true } } } };
  const [summary] = jobSummaries(paths, state as unknown as AppState);
  assert.equal(summary?.last, { at, ms: 7, outcome: 'ok', version: 'v1' });
});

test.run();
