/** Deploy windows against a second reference: a walk over every minute with its own wall clock. */

import { isOpen, opensAt, untilWords, windowOf } from '@runner/common/config/windows';
import { Failure } from '@runner/common/foundation/failure';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Kolkata',
];
const DAY = 86_400_000;
const rule = (values: Record<string, unknown>) =>
  windowOf(new Map(Object.entries(values)), (_path, words) => new Failure('config_invalid', words));

/** A wall clock that knows nothing of the code under test: by the text of another locale. */
const clocks = new Map(
  ZONES.map((timeZone) => {
    const style = { dateStyle: 'short', timeStyle: 'medium', timeZone } as const;
    return [timeZone, new Intl.DateTimeFormat('sv-SE', style)];
  }),
);
function reference(time: number, zone: string) {
  const text = clocks.get(zone)?.format(time) ?? '';
  const [date = '', clock = ''] = text.split(' ');
  const [hours, minutes] = clock.split(':').map(Number);
  return {
    date,
    day: new Date(`${date}T12:00Z`).getUTCDay(),
    minute: Number(hours) * 60 + Number(minutes),
  };
}

/** Times at which a zone changes its distance to UTC, from 2015 to 2030. */
function changes(zone: string): number[] {
  const offset = (time: number) => {
    const { date, minute } = reference(time, zone);
    return Date.parse(`${date}T00:00Z`) + minute * 60_000 - time;
  };
  const found: number[] = [];
  for (let time = Date.UTC(2015); time < Date.UTC(2030); time += DAY)
    if (offset(time) !== offset(time + DAY)) found.push(time);
  return found;
}

/** A generator of numbers that a failure can repeat. */
function numbers(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('10,000 random times around clock changes are decided as a reference does', () => {
  const next = numbers(42);
  for (const zone of ZONES) {
    const around = [...changes(zone), Date.UTC(2024, 5, 1)];
    const weekdays = rule({ allow: 'mon-thu 01:30-17:00', zone });
    const nights = rule({ allow: ['sat-sun 22:00-02:30'], zone, freeze: '2024-10-27' });
    for (let count = 0; count < 2_000; count += 1) {
      const time = (around[next(around.length)] ?? 0) + next((4 * DAY) / 60_000) * 60_000 - DAY;
      const { date, day, minute } = reference(time, zone);
      const week = day >= 1 && day <= 4 && minute >= 90 && minute < 1_020;
      const night =
        date !== '2024-10-27' &&
        (([6, 0].includes(day) && minute >= 1_320) || ([0, 1].includes(day) && minute < 150));
      assert.is(isOpen(weekdays, time), week, `${zone} ${new Date(time).toISOString()}`);
      assert.is(isOpen(nights, time), night, `${zone} ${new Date(time).toISOString()}`);
    }
  }
});

test('a window opens at the first open minute, also where a clock jumps', () => {
  const next = numbers(7);
  for (const zone of ZONES) {
    const around = [...changes(zone), Date.UTC(2024, 5, 1)];
    for (let count = 0; count < 8; count += 1) {
      const from = next(180);
      const text = `0${Math.floor(from / 60)}:${String(from % 60).padStart(2, '0')}`;
      const window = rule({ allow: `daily ${text}-05:00`, zone });
      const now = (around[next(around.length)] ?? 0) + next(1_440) * 60_000;
      let expected = now;
      while (!isOpen(window, expected)) expected += 60_000;
      const opening = opensAt([window], 'shop', new Date(now));
      assert.is(
        opening?.at?.getTime() ?? now,
        expected,
        `${zone} ${text} ${new Date(now).toISOString()}`,
      );
    }
  }
});

test('the day after a clock has jumped is not passed over', () => {
  const window = rule({ allow: 'daily 01:30-05:00', zone: 'America/New_York' });
  const opening = opensAt([window], 'shop', new Date('2017-03-12T04:57:00Z'));
  assert.is(opening?.at?.toISOString(), '2017-03-12T06:30:00.000Z');
});

test('rules for an app all apply, and the wait is shown in the zone', () => {
  const windows = [
    rule({ app: 'shop', allow: 'mon-thu 08:00-17:00', zone: 'Europe/Berlin' }),
    rule({ freeze: ['2026-12-20..2027-01-06'], zone: 'Europe/Berlin' }),
  ];
  const waits = (time: string, app = 'shop') => {
    const opening = opensAt(windows, app, new Date(time));
    return opening && untilWords(opening);
  };
  assert.is(waits('2026-05-04T10:00:00Z'), undefined);
  assert.is(waits('2026-05-08T10:00:00Z'), 'until Mon 08:00');
  assert.is(waits('2026-12-19T10:00:00Z'), 'until 2027-01-07 08:00');
  assert.is(waits('2026-12-24T10:00:00Z', 'blog'), 'until 2027-01-07 00:00');
});

test('a rule that cannot be read is refused', () => {
  for (const values of [
    { allow: 'mon 08:00' },
    { allow: 'mon 25:00-26:00' },
    { allow: 'xyz' },
    { freeze: '2026-01-02..2026-01-01' },
    { freeze: '2026-13-01' },
    { freeze: '2026-02-20..2026-02-30' },
    { zone: 'Europe/Nowhere' },
  ])
    assert.throws(() => rule(values), /is not/);
  assert.throws(() => rule({ zone: 'Europe/Berlin' }), /needs allow or freeze/);
});

test.run();
