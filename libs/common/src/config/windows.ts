/** `deploy_windows`: when `fetch --deploy` may deploy, by the wall clock of a time zone. */
import type { Failure } from '../foundation/failure.ts';
import { timeOfIso } from '../text/time.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY_MINUTES = 1_440;

/** Days of the week, 0 is Sunday, and minutes of the day; `to` may be before `from`: past midnight. */
interface Allowed {
  readonly days: ReadonlySet<number>;
  readonly from: number;
  readonly to: number;
}

/** What is wrong with a value of a rule. */
type RuleProblem = (path: readonly (string | number)[], words: string) => Failure;

/** One rule. */
export type Window = ReturnType<typeof windowOf>;

/** Reads one rule. Throws what `problem` makes. */
export function windowOf(rule: ReadonlyMap<string, unknown>, problem: RuleProblem) {
  const bad = (path: readonly (string | number)[], text: string, wanted: string) =>
    problem(path, `'${text.slice(0, 80)}' is not ${wanted}`);
  const list = (key: string) => [rule.get(key) ?? []].flat() as string[];
  /** Reads each text of a list, or the only one. */
  const each = <T>(key: string, read: (text: string) => T | undefined, wanted: string): T[] =>
    list(key).map((text, index) => {
      const value = read(text);
      if (value !== undefined) return value;
      throw bad(Array.isArray(rule.get(key)) ? [key, index] : [key], text, wanted);
    });
  const zone = (rule.get('zone') ?? 'UTC') as string;
  try {
    clockOf(zone);
  } catch {
    throw bad(['zone'], zone, 'a time zone such as Europe/Berlin');
  }
  if (!rule.has('allow') && !rule.has('freeze')) throw problem([], 'a rule needs allow or freeze');
  return {
    /** undefined: all apps. */
    app: rule.get('app') as string | undefined,
    /** Empty: always. */
    allow: each('allow', allowedOf, 'days and times such as mon-thu 08:00-17:00'),
    /** First and last day, `2026-12-24`. */
    freeze: each('freeze', frozenOf, 'a day or days such as 2026-12-20..2027-01-06'),
    zone,
    /** As config.yml has it: `mon-thu 08:00-17:00 Europe/Berlin`, `freeze 2026-12-24 Europe/Berlin`. */
    texts: [...list('allow'), ...list('freeze').map((days) => `freeze ${days}`)].map(
      (text) => `${text} ${zone}`,
    ),
  };
}

function frozenOf(text: string): readonly [string, string] | undefined {
  const [, from, to = from] = /^(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?$/.exec(text) ?? [];
  if (!from || !to || to < from || [from, to].some((day) => Number.isNaN(timeOfIso(day))))
    return undefined;
  return [from, to];
}

function allowedOf(text: string): Allowed | undefined {
  const match = /^([a-z]{3}(?:[-,][a-z]{3})*|daily)(?:\s+(\d\d:\d\d)-(\d\d:\d\d))?$/i.exec(
    text.trim(),
  );
  const days = daysOf(match?.[1]?.toLowerCase() ?? '');
  const [from, to] = [minutesOf(match?.[2] ?? '00:00'), minutesOf(match?.[3] ?? '24:00')];
  if (!match || !days || from === undefined || to === undefined) return undefined;
  return from === to || from === DAY_MINUTES ? undefined : { days, from, to };
}

/** `mon-thu,sat`; undefined for anything else. */
function daysOf(text: string): Set<number> | undefined {
  if (text === 'daily') return new Set(DAYS.keys());
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [first, last, ...more] = part.split('-').map((name) => DAYS.indexOf(name));
    if (first === undefined || first < 0 || (last !== undefined && last < 0) || more.length > 0)
      return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === (last ?? first)) break;
    }
  }
  return days;
}

function minutesOf(text: string): number | undefined {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  const all = hours * 60 + minutes;
  return minutes < 60 && all <= DAY_MINUTES ? all : undefined;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known) return known;
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'short' } as const;
  const clock = new Intl.DateTimeFormat('en-US', {
    ...parts,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: zone,
  });
  clocks.set(zone, clock);
  return clock;
}

/** What a clock on a wall in the zone shows. */
function wallClock(time: number, zone: string) {
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  return {
    /** `2026-12-24` */
    date: `${parts.year}-${parts.month}-${parts.day}`,
    day: DAYS.indexOf((parts.weekday ?? '').toLowerCase()),
    minute: Number(parts.hour) * 60 + Number(parts.minute),
  };
}

/** Whether a rule allows a deploy at a time. */
export function isOpen({ allow, freeze, zone }: Window, time: number): boolean {
  const { date, day, minute } = wallClock(time, zone);
  if (freeze.some(([from, to]) => from <= date && date <= to)) return false;
  const before = (day + 6) % 7;
  return (
    allow.length === 0 ||
    allow.some(({ days, from, to }) =>
      from < to
        ? days.has(day) && minute >= from && minute < to
        : (days.has(day) && minute >= from) || (days.has(before) && minute < to),
    )
  );
}

/** When the windows of an app open. */
export interface Opening {
  /** undefined: not within a year. */
  readonly at: Date | undefined;
  readonly zone: string;
  readonly now: Date;
}

const MINUTE = 60_000;
const DAY = DAY_MINUTES * MINUTE;
/** Days that are searched. */
const HORIZON = 400;

/** The rules of an app. */
export function windowsOf(windows: readonly Window[], app: string): Window[] {
  return windows.filter((each) => each.app === undefined || each.app === app);
}

/** When an app may be deployed next; undefined: now. */
export function opensAt(windows: readonly Window[], app: string, now: Date): Opening | undefined {
  const rules = windowsOf(windows, app);
  const areOpen = (time: number) => rules.every((rule) => isOpen(rule, time));
  if (areOpen(now.getTime())) return undefined;
  const closed = rules.find((rule) => !isOpen(rule, now.getTime()));
  const zone = closed?.zone ?? 'UTC';
  // A window opens at the beginning of a minute that a rule names, at midnight, or when a clock jumps.
  for (let day = -1; day <= HORIZON; day += 1) {
    const times = rules
      .flatMap((rule) => beginnings(rule, now.getTime(), day))
      .filter((time) => time > now.getTime() && areOpen(time))
      .sort((a, b) => a - b);
    const [first] = times;
    if (first === undefined) continue;
    let at = first;
    while (at - MINUTE > now.getTime() && areOpen(at - MINUTE)) at -= MINUTE;
    return { at: new Date(at), zone, now };
  }
  return { at: undefined, zone, now };
}

/** The times at which a rule may open that many calendar days after `now`. */
function beginnings({ allow, zone }: Window, now: number, days: number): number[] {
  // Not the day of now + 24 h: a day on which a clock jumps is shorter, and would be passed over.
  const midnight = Date.parse(`${wallClock(now, zone).date}T00:00Z`) + days * DAY;
  const minutes = new Set([0, ...allow.map(({ from }) => from)]);
  // The zone's distance to UTC before and after that day: a clock may jump on it.
  const offsets = [midnight - DAY, midnight + 2 * DAY].map((time) => {
    const wall = wallClock(time, zone);
    return (
      Date.parse(`${wall.date}T00:00Z`) + wall.minute * MINUTE - Math.floor(time / MINUTE) * MINUTE
    );
  });
  return [...minutes].flatMap((minute) =>
    [...new Set(offsets)].map((offset) => midnight + minute * MINUTE - offset),
  );
}

const WEEK = 6 * DAY;

/** `until Mon 08:00`; with the day if that is far away. */
export function untilWords({ at, zone, now }: Opening): string {
  if (!at) return 'until more than a year from now';
  const { date, day, minute } = wallClock(at.getTime(), zone);
  const two = (number: number) => String(number).padStart(2, '0');
  const time = `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
  const name = DAYS[day] ?? '';
  const isNear = at.getTime() - now.getTime() < WEEK;
  return `until ${isNear ? `${name[0]?.toUpperCase()}${name.slice(1)}` : date} ${time}`;
}
