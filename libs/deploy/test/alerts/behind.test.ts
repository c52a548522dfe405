/** Reminders of a head that does not run, whatever the clock does. */
import { behindChanges, behindSince } from '@runner/deploy/alerts/behind';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('behind');
const HOUR = 3_600_000;

test('a clock that was set back delays the next reminder by a day, and does not silence it', () => {
  const start = Date.parse('2026-05-04T09:30:00.000Z');
  const head = { result: 'blocked', text: 'blocked', commit: 'a', version: 'v2' };
  const summary = { next: 'runner deploy shop' };
  let app = { behind_since: null as string | null, reported: {} };
  const reminders: number[] = [];
  // After 49 hours with two reminders it is 20 days earlier.
  for (let hour = 0; hour <= 120; hour += 1) {
    const now = new Date(start + hour * HOUR - (hour > 49 ? 480 * HOUR : 0));
    const seen = { head, deploys: true, summary, now };
    const { changes, reported } = behindChanges(app as never, seen as never);
    if (changes.length > 0) reminders.push(hour);
    const behind_since = behindSince(app as never, head, now);
    app = { behind_since, reported: { ...app.reported, ...reported } };
  }
  assert.equal(reminders, [24, 48, 74, 98]);
});

test.run();
