import { inUtc, timeOfIso } from '@runner/common/text/time';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const FIRST = Date.parse('0000-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

test('a time is read in any zone, and as UTC if it names none', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: FIRST, max: LAST }),
      fc.integer({ min: -23 * 60, max: 23 * 60 }),
      (time, zone) => {
        const text = new Date(time).toISOString();
        for (const each of [text, text.slice(0, -1), text.replace('T', ' '), text.toLowerCase()])
          assert.is(timeOfIso(each), time, each);
        const pair = (value: number) => String(Math.floor(value)).padStart(2, '0');
        const sign = zone < 0 ? '-' : '+';
        const [hours, minutes] = [pair(Math.abs(zone) / 60), pair(Math.abs(zone) % 60)];
        for (const between of [':', '']) {
          const there = `${text.slice(0, -1)}${sign}${hours}${between}${minutes}`;
          const then = time - zone * 60_000;
          assert.is(timeOfIso(there), then, there);
          assert.is(
            inUtc(there),
            then < FIRST || then > LAST ? there : new Date(then).toISOString(),
          );
        }
      },
    ),
    { numRuns: 300 },
  );
  assert.is(timeOfIso('2026-05-04'), Date.UTC(2026, 4, 4));
  assert.is(timeOfIso('2026-05-04T09:30'), Date.UTC(2026, 4, 4, 9, 30));
  assert.is(timeOfIso('2024-02-29T00:00:00.123456789Z'), Date.UTC(2024, 1, 29, 0, 0, 0, 123));
  assert.is(inUtc('2026-05-05T10:00:00Z'), '2026-05-05T10:00:00Z');
});

test('nonexistent days and anything but ISO 8601 are not times', () => {
  for (const text of [
    ...['2026-02-29', '2100-02-29T00:00Z', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00'],
    ...['2026-05-04T25:00Z', '2026-05-04T09:60Z', '2026-05-04T09:30+2', '26-05-04', '', 'noon'],
    ...['Mon, 04 May 2026 09:30:00 GMT', '1777886000000', '2026-05-04T09:30:00Z x'],
  ]) {
    assert.ok(Number.isNaN(timeOfIso(text)), text);
    assert.is(inUtc(text), text);
  }
});

test.run();
