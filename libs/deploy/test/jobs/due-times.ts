/**
 * What becomes of each due time, over simulated years in five zones, with outages, kills, clock steps, pauses
 * and stops: none is run twice, none is lost without a word.
 */
import type { JobEntry } from '@runner/common/apps/job-book';
import { jobsOf } from '@runner/common/deploy-file/jobs';
import { nextDue } from '@runner/common/deploy-file/schedule';
import { dated } from '@runner/deploy/jobs/book';
import { settle } from '@runner/deploy/jobs/settle';
import { randomOf } from '@runner/testing/random';
import * as assert from 'uvu/assert';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
];
const SCHEDULES: Record<string, unknown>[] = [
  { every: '1m' },
  { every: '15m' },
  { cron: '*/7 * * * *' },
  { cron: '30 * * * *' },
  { at: ['02:30'] },
  { at: ['mon-fri 01:45', 'sun 02:15'] },
  { cron: '0 3 1,15 * *' },
];

export function entryOf(schedule: Record<string, unknown>, zone: string, rest: object): JobEntry {
  const zoned = 'every' in schedule ? {} : { zone };
  const section = new Map(Object.entries({ run: 'true', ...schedule, ...zoned, ...rest }));
  const fail = (key: string, what: string) => new Error(`${key} ${what}`);
  const [rules] = jobsOf(new Map([['job', section]]), [{ name: 'default' }], fail);
  const none = { run: null, waiting: null, paused: null, trouble: null, slow: false, runs: [] };
  const settled = new Date(Date.UTC(2026, 0, 1)).toISOString();
  return dated({
    rules: rules as JobEntry['rules'],
    instance: 'default',
    settled,
    next: null,
    ...none,
  });
}

interface Tally {
  due: number;
  started: number;
  missed: number;
  skipped: number;
  rested: number;
  kills: number;
}

/** One job for a while; returns what became of its times. */
function live(entry: JobEntry, most: number, random: () => number, tally: Tally): void {
  let [now, real] = [Date.parse(entry.settled), Date.parse(entry.settled)];
  let runEnds = 0;
  let ids = 0;
  let resting = false;
  const started = new Set<string>();
  let job = entry;
  for (let seen = 0; seen < most; ) {
    // To the next time, or beyond it: an outage, a reboot.
    const luck = random();
    const ahead = job.next === null ? HOUR : Date.parse(job.next) - now;
    const isOut = luck < 0.04;
    const pass = isOut
      ? random() * 3 * DAY
      : Math.max(MINUTE, Math.min(ahead, 20 * DAY)) + random() * 2_000;
    now += pass;
    real += pass;
    // The clock is set, or corrected, by less than a day.
    if (luck > 0.98) now = real + (random() - 0.5) * 22 * HOUR;
    if (luck > 0.96 && luck < 0.97) resting = !resting;
    const isOver = job.run !== null && now >= runEnds && luck < 0.9;
    const isKilled = job.run !== null && !isOver && (isOut || luck > 0.95);
    if (isOver) job = { ...job, run: null };
    if (isKilled) tally.kills += 1;
    const before = job;
    const done = settle(before, {
      now: new Date(now),
      claim: () => ({ result: 'claimed', token: null }),
      newId: () => {
        ids += 1;
        return String(ids);
      },
      isAlive: !isKilled,
      isStopped: resting,
      isHeldUp: luck > 0.9 && luck < 0.93 && before.rules.duringDeploy !== 'continue',
    });
    job = done.entry;
    assert.is(Boolean(done.killed), isKilled);
    const dues: number[] = [];
    let at = nextDue(before.rules.schedule, new Date(before.settled));
    for (; at && at.getTime() <= now; at = nextDue(before.rules.schedule, at))
      dues.push(at.getTime());
    seen += dues.length;
    tally.due += dues.length;
    const newRuns = done.entry.runs.length - before.runs.length - (done.killed ? 1 : 0);
    const isStarted = done.starts && done.entry.run;
    if (isStarted) {
      const { due } = done.entry.run as { due: string };
      assert.not.ok(started.has(due), `${due} is run twice`);
      started.add(due);
      assert.ok(
        now - Date.parse(due) <= 5 * MINUTE || before.waiting === due || before.rules.catchUp,
      );
      runEnds = now + random() * (random() < 0.1 ? 2 * HOUR : 5 * MINUTE);
      tally.started += 1;
    }
    tally.missed += done.missed?.count ?? 0;
    tally.skipped += newRuns;
    const { length } = dues;
    if (resting) {
      tally.rested += length;
      assert.equal([done.starts, done.missed], [false, undefined]);
    } else if (!before.run && !before.rules.catchUp && length > 0) {
      // Each time is run, waits, or is missed.
      const isKept = isStarted || done.entry.waiting !== null;
      const missed = done.missed?.count ?? 0;
      const fresh = dues.filter((due) => now - due <= 5 * MINUTE).length;
      assert.is(missed, length - fresh);
      assert.is(newRuns, Math.max(0, fresh - 1));
      if (fresh > 0) assert.ok(isKept || isKilled, 'a time is lost');
    }
    // What was dealt with stays so.
    assert.ok(done.entry.settled >= before.settled || Date.parse(before.settled) - now > DAY);
    job = { ...job, runs: [] };
  }
}

/** A time that the clock skips or doubles comes once that night, and hours go on. */
export function nightsAndHours(years: number, days: number): void {
  for (const zone of ZONES) {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
    const { schedule } = entryOf({ at: ['02:30'] }, zone, {}).rules;
    const nights = new Set<string>();
    let [count, at] = [0, new Date(Date.UTC(2026, 0, 1, 12))];
    for (; count < 365 * years; count += 1) {
      at = nextDue(schedule, at) as Date;
      nights.add(day.format(at));
    }
    assert.is(nights.size, count, zone);
    const { schedule: hourly } = entryOf({ cron: '30 * * * *' }, zone, {}).rules;
    let before = nextDue(hourly, new Date(Date.UTC(2026, 2, 1))) as Date;
    for (let hour = 0; hour < days * 24; hour += 1) {
      const next = nextDue(hourly, before) as Date;
      // Half an hour at a change of half an hour.
      const step = (next.getTime() - before.getTime()) / HOUR;
      assert.ok(step === 1 || (zone === 'Australia/Lord_Howe' && step <= 2), `${zone} ${next}`);
      before = next;
    }
  }
}

/** Runs due times until there are `count`: none is run twice or lost without a record. Returns what became of them. */
export function manyDueTimes(count: number): Tally {
  const random = randomOf(7);
  const tally: Tally = { due: 0, started: 0, missed: 0, skipped: 0, rested: 0, kills: 0 };
  const all = SCHEDULES.flatMap((schedule) => ZONES.map((zone) => [schedule, zone] as const));
  const rules = [
    {},
    { overlap: 'wait' },
    { overlap: 'kill' },
    { catch_up: true },
    { during_deploy: 'wait' },
  ];
  for (const [index, [schedule, zone]] of all.entries()) {
    const entry = entryOf(schedule, zone, rules[index % rules.length] as object);
    live(entry, count / all.length, random, tally);
  }
  assert.ok(tally.due >= count);
  assert.ok(tally.kills > count / 200, `${tally.kills} kills`);
  return tally;
}
