/**
 * A job with `on: one` on three servers, with outages of each and of the broker: each due time is run by one of
 * them, or one says that it was missed.
 */
import type { JobEntry } from '@runner/common/apps/job-book';
import { jobsOf } from '@runner/common/deploy-file/jobs';
import { nextDue } from '@runner/common/deploy-file/schedule';
import { dated } from '@runner/deploy/jobs/book';
import { settle } from '@runner/deploy/jobs/settle';
import { answerTo, type HeldClaim } from '@runner/fleet/broker/claims';
import { randomOf } from '@runner/testing/random';
import * as assert from 'uvu/assert';

const [MINUTE, HOUR] = [60_000, 3_600_000];
const SCHEDULES = [{ every: '15m' }, { every: '1h' }, { every: '12h' }];

function entryOf(schedule: object, rest: object): JobEntry {
  const section = new Map(Object.entries({ run: 'true', ...schedule, ...rest }));
  const fail = (key: string, what: string) => new Error(`${key} ${what}`);
  const [rules] = jobsOf(new Map([['job', section]]), [{ name: 'default' }], fail);
  const none = { run: null, waiting: null, paused: null, trouble: null, slow: false, runs: [] };
  const settled = new Date(Date.UTC(2026, 0, 1)).toISOString();
  const about = { rules: rules as JobEntry['rules'], instance: 'default', settled, next: null };
  return dated({ ...about, ...none });
}

/** Three servers with one job for a while, with outages of each and of the broker. */
function fleet(
  entry: JobEntry,
  most: number,
  random: () => number,
  tally: Record<string, number>,
): void {
  let held: HeldClaim | undefined;
  let ids = 0;
  const begin = Date.parse(entry.settled);
  const servers = ['web1', 'web2', 'web3'].map((server) => ({
    server,
    job: entry,
    ends: 0,
    out: 0,
  }));
  const seen = new Map<string, string>();
  const went: [number, number][] = [];
  let [now, brokerOut] = [begin, 0];
  for (let due = 0; due < most; ) {
    const next = nextDue(entry.rules.schedule, new Date(now)) as Date;
    due += 1;
    tally.due = (tally.due ?? 0) + 1;
    if (random() < 0.01) brokerOut = next.getTime() + random() * HOUR;
    // Each looks a moment after the time, and once a minute for a while.
    for (let minute = 0; minute < 7; minute += 1) {
      now = next.getTime() + minute * MINUTE;
      for (const each of [...servers].sort(() => random() - 0.5)) {
        now += random() * 500;
        // The process of a run says when it is over, also if no one looks.
        const runs = servers.find(({ server }) => server === held?.server);
        if (held && runs && runs.ends <= now && now >= brokerOut) held = { ...held, ended: true };
        if (random() < 0.01) each.out = now + random() * 3 * HOUR;
        if (now < each.out) continue;
        if (each.job.run && now >= each.ends) {
          each.job = { ...each.job, run: null };
        }
        const time = new Date(now);
        const done = settle(each.job, {
          now: time,
          newId: () => {
            ids += 1;
            return String(ids);
          },
          claim({ id, due: wanted, isOver }) {
            if (now < brokerOut) {
              tally.unasked = (tally.unasked ?? 0) + 1;
              return { result: 'unknown', why: 'silent' };
            }
            const until = new Date(now + (isOver ? 0 : 2 * HOUR)).toISOString();
            const answer = answerTo(held, { server: each.server, due: wanted, id, until }, time);
            if ('result' in answer) return answer;
            held = answer;
            return { result: 'claimed', token: ids };
          },
          isAlive: true,
          isStopped: false,
          isHeldUp: false,
        });
        const at = done.entry.run?.due;
        if (done.starts && at) {
          assert.not.ok(seen.get(at)?.startsWith('web'), `${at} is run twice`);
          assert.ok(
            servers.every(({ job, ends }) => !job.run || ends <= now),
            'two runs at once',
          );
          seen.set(at, each.server);
          each.ends = now + random() * (random() < 0.1 ? HOUR : 2 * MINUTE);
          went.push([now, each.ends]);
          tally.started = (tally.started ?? 0) + 1;
        }
        for (const { due: skipped, outcome } of done.entry.runs)
          if (outcome === 'skipped' && skipped && !seen.has(skipped)) seen.set(skipped, outcome);
        tally.missed = (tally.missed ?? 0) + (done.missed?.count ?? 0);
        const { first, last } = done.missed ?? { first: '', last: '' };
        let time_ = first === '' ? undefined : new Date(Date.parse(first) - 1);
        while (time_) {
          time_ = nextDue(entry.rules.schedule, time_);
          if (!time_ || time_.toISOString() > last) break;
          const missed = time_.toISOString();
          if (!seen.has(missed)) seen.set(missed, 'missed');
        }
        each.job = { ...done.entry, runs: [] };
      }
    }
    if (now >= next.getTime() + 5 * MINUTE && servers.every(({ out }) => out < now))
      for (const { job } of servers) assert.ok(job.settled >= next.toISOString());
  }
  if (entry.rules.catchUp) return;
  // All are back, and the broker is: nothing is without a word.
  const first = [...seen.keys()].sort()[0] as string;
  const last = servers.map(({ job }) => job.settled).sort()[0] as string;
  let at = nextDue(entry.rules.schedule, new Date(Date.parse(first) - 1));
  for (; at && at.toISOString() <= last; at = nextDue(entry.rules.schedule, at)) {
    const time = at.toISOString();
    const isWaiting = servers.some(({ job }) => job.waiting === time);
    // While a run goes on its rules say what becomes of further times.
    const isHeldUp = went.some(([from, to]) => Date.parse(time) >= from && Date.parse(time) <= to);
    assert.ok(isWaiting || isHeldUp || seen.has(time), `${time} is lost`);
  }
}

/** Returns what became of `count` due times. */
export function dueTimesOfThree(count: number): Record<string, number> {
  const random = randomOf(9);
  const tally = { due: 0, started: 0, missed: 0, skipped: 0, unasked: 0 };
  for (const [index, schedule] of SCHEDULES.entries()) {
    const rest = [{}, { overlap: 'wait' }, { catch_up: true }][index % 3];
    fleet(entryOf(schedule, { ...rest, on: 'one' }), count / SCHEDULES.length, random, tally);
  }
  assert.ok(tally.unasked > 0 && tally.missed > 0 && tally.started > tally.due / 2);
  return tally;
}
