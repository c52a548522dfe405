import { settle } from '@runner/deploy/jobs/settle';
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
  const look = { newId: () => '1', claim, isAlive: true, isStopped: false, isBusy: false };
  const first = settle(entry, { ...look, now: new Date('2026-06-01T00:30:00Z') });
  assert.equal([first.starts, first.entry.next], [false, '2026-06-01T01:00:00.000Z']);
  const then = settle(first.entry, { ...look, now: new Date('2026-06-01T01:00:01Z') });
  assert.is(then.entry.run?.due, '2026-06-01T01:00:00.000Z');
});

test.run();
