/** Crontabs and schedule.rb files in the forms that people publish: no line is lost, no time is another. */
import type { JobRules } from '@runner/common/deploy-file/jobs';
import { readDeployFile } from '@runner/common/deploy-file/read';
import { nextDue } from '@runner/common/deploy-file/schedule';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ImportAnswer, importText } from '../src/answer/answer.ts';
import { SECRET } from './forms/form.ts';
import { REAL } from './real.ts';
import { answerTo } from './real-answers.ts';

/** In summer, so that no clock changes in the time that is looked at. */
const AFTER = new Date('2026-05-31T22:03:00Z');

const MINUTE = 60_000;

const MONTHS_AHEAD = new Date('2026-10-20T00:00:00Z').getTime();

const YEARS_AHEAD = new Date('2036-01-01T00:00:00Z').getTime();

function jobsOf({ deploy_file: text }: ImportAnswer): Map<string, JobRules> {
  const jobs = text === null ? [] : readDeployFile(Buffer.from(text)).jobs;
  return new Map(jobs.map((job) => [`jobs.${job.name}`, job]));
}

/** The numbers that a field of cron means. */
function meant(field: string, least: number, most: number): Set<number> {
  const names = [
    'sun mon tue wed thu fri sat',
    '_ jan feb mar apr may jun jul aug sep oct nov dec',
  ];
  const plain = field
    .toLowerCase()
    .replace(/[a-z]{3}/g, (name) =>
      String(names.map((all) => all.split(' ').indexOf(name)).find((at) => at >= 0)),
    );
  const numbers = new Set<number>();
  for (const part of plain.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from = 0, to = from] = range === '*' ? [least, most] : range.split('-').map(Number);
    for (let value = from; value <= to; value += Number(step)) numbers.add(value);
  }
  return numbers;
}

/** The first `count` minutes that fit, tried one after the other; cron's own rule for the two days. */
function dueByHand(line: string, shift: number, until: number, count = 5): string[] {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = line.split(/\s+/);
  const minutes = meant(minute, 0, 59);
  const hours = meant(hour, 0, 23);
  const days = meant(day, 1, 31);
  const months = meant(month, 1, 12);
  const weekdays = meant(weekday, 0, 7);
  const wantsBoth = day.startsWith('*') || weekday.startsWith('*');
  const found: string[] = [];
  for (let at = AFTER.getTime() + MINUTE; at < until && found.length < count; at += MINUTE) {
    const local = new Date(at + shift * MINUTE);
    const own = weekdays.has(local.getUTCDay()) || (local.getUTCDay() === 0 && weekdays.has(7));
    const fits = [days.has(local.getUTCDate()), own];
    if (!minutes.has(local.getUTCMinutes()) || !hours.has(local.getUTCHours())) continue;
    if (!months.has(local.getUTCMonth() + 1)) continue;
    if (wantsBoth ? fits.every(Boolean) : fits.some(Boolean))
      found.push(new Date(at).toISOString());
  }
  return found;
}

function dueOf({ schedule }: JobRules, until: number, count = 5): string[] {
  const found: string[] = [];
  for (let at = nextDue(schedule, AFTER); at; at = nextDue(schedule, at)) {
    if (found.length === count || at.getTime() >= until) break;
    found.push(at.toISOString());
  }
  return found;
}

/** Minutes that the clock of a zone is ahead of UTC. */
function ahead(zone: string): number {
  const text = new Intl.DateTimeFormat('sv', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(AFTER);
  return (Date.parse(`${text.replace(' ', 'T')}Z`) - AFTER.getTime()) / MINUTE;
}

test('every line is mapped or named, and runner reads what is written', async () => {
  for (const source of REAL) {
    const answer = await answerTo(source);
    const jobs = jobsOf(answer);
    const places = answer.mapped.flatMap(({ to }) =>
      to.startsWith('jobs.') ? to.split(', ') : [],
    );
    assert.equal(places.sort(), [...jobs.keys()].sort(), source.text);
    const named = new Set([...answer.mapped, ...answer.left].map(({ line }) => line));
    source.text.split(/\r?\n/).forEach((line, at, all) => {
      const isCode = !/^\s*(?:#.*|end|\})?$/.test(line);
      const goesOn = source.format === 'whenever' && /[,\\]$/.test(all[at - 1] ?? '');
      if (isCode && !goesOn) assert.ok(named.has(at + 1), `${source.file}:${at + 1}: ${line}`);
    });
    assert.not.ok(JSON.stringify(answer).includes(SECRET), source.file);
  }
});

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'])
  test(`jobs of the crontabs on a server in ${zone} are due when their lines are`, async () => {
    let count = 0;
    for (const source of REAL.filter(({ format }) => format === 'crontab')) {
      const answer = await answerTo(source, zone);
      const jobs = jobsOf(answer);
      const lines = source.text.split(/\r?\n/);
      let own = zone;
      for (const [at, line] of lines.entries()) {
        const isTaken = answer.mapped.some(({ line: place }) => place === at + 1);
        const named = /^(?:CRON_)?TZ=(.*)$/.exec(line)?.[1];
        if (isTaken && named !== undefined) own = named;
        const to = answer.mapped.find((each) => each.line === at + 1 && each.key === 'job')?.to;
        const job = jobs.get(to ?? '');
        if (!job) continue;
        const until = own === 'UTC' ? YEARS_AHEAD : MONTHS_AHEAD;
        const fields = line.trim();
        const wanted = dueByHand(
          NICKNAMES[fields.split(/\s/)[0] ?? ''] ?? fields,
          ahead(own),
          until,
        );
        assert.equal(dueOf(job, until), wanted, `${source.file}:${at + 1}: ${line}: ${job.when}`);
        count += 1;
      }
    }
    assert.ok(count > 90, String(count));
  });

for (const [call, lines, more = ''] of [
  ['2.hours', '0 0,2,4,6,8,10,12,14,16,18,20,22 * * *'],
  ['5.hours', '0 5,10,15,20 * * *'],
  ['4.days', '0 0 1,5,9,13,17,21,25,29 * *'],
  ['20.days', '0 0 20 * *'],
  ['1.week', '0 0 1,8,15,22 * *'],
  [":day, at: '4:30 am'", '30 4 * * *'],
  ["1.day, at: ['4:30 am', '6:00 pm']", '30 4 * * *|0 18 * * *'],
  ["1.day, :at => '12:20am'", '20 0 * * *'],
  [":sunday, at: '12pm'", '0 12 * * 0'],
  [":weekday, at: '6pm'", '0 18 * * 1-5'],
  ["[:saturday, :sunday], at: '8:50'", '50 8 * * 6|50 8 * * 0'],
  ["'monday, thursday', at: '1:00 am'", '0 1 * * 1|0 1 * * 4'],
  ["'0 0 27-31 * *'", '0 0 27-31 * *'],
  [':month', '0 0 1 * *'],
  ["2.months, at: '3:00 am'", '0 3 1 1,3,5,7,9,11 *'],
  [':year', '0 0 1 1 *'],
  ['7.minutes', '7,14,21,28,35,42,49,56 * * * *'],
  ['45.minutes', '45 * * * *'],
  ['60.minutes', '0 * * * *'],
  ['1.hour, at: 15', '15 * * * *'],
  [":day, at: '4:30'", '30 16 * * *'],
  [":day, at: '4:30'", '30 4 * * *', 'set :chronic_options, hours24: true\n'],
] as const)
  test(`every ${call} ${more}is ${lines}, as the gem writes it`, async () => {
    const text = `${more}every ${call} do\n  command "x"\nend\n`;
    const answer = await importText({ format: 'whenever', text, file: 'schedule.rb', root: '/r' });
    const due = (all: string[]) => [...new Set(all)].sort().slice(0, 5);
    const jobs = [...jobsOf(answer).values()];
    const wanted = lines.split('|').flatMap((line) => dueByHand(line, 0, YEARS_AHEAD));
    assert.equal(due(jobs.flatMap((job) => dueOf(job, YEARS_AHEAD))), due(wanted));
  });

test.run();
