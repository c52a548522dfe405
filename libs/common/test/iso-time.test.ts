import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isoTime } from '../src/iso-time.ts';

const FIRST = Date.parse('0000-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');

test('any time of the years 0 to 9999 is written as Date writes it', () => {
  fc.assert(
    fc.property(fc.integer({ min: FIRST, max: LAST }), (time) => {
      assert.is(isoTime(time), new Date(time).toISOString());
    }),
    { numRuns: 20_000 },
  );
});

test('each day from 1896 to 2105 is written as Date writes it, leap days and centuries too', () => {
  for (let time = Date.UTC(1896, 0, 1); time < Date.UTC(2105, 0, 1); time += 86_400_000) {
    if (isoTime(time) !== new Date(time).toISOString()) {
      assert.is(isoTime(time), new Date(time).toISOString());
    }
  }
});

for (const edge of [FIRST, LAST, -1, 0, Date.UTC(2000, 1, 29), Date.UTC(2100, 1, 28, 23, 59, 59)]) {
  test(`${edge} ms are ${new Date(edge).toISOString()}`, () => {
    assert.is(isoTime(edge), new Date(edge).toISOString());
  });
}

test.run();
