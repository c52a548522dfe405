/** The times of a job as `.deploy.yml` shows them best: `every`, `at`, or cron's five fields. */
import { isZone } from '@runner/common/deploy-file/schedule';
import { valuesOf } from './schedule.ts';

/** One of the three, with a zone that is not UTC. */
export type JobTimes = Readonly<Record<string, string | readonly string[]>>;

const DAYS = ['', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** More times of a day are easier to read in cron's fields. */
const TIMES_MAX = 4;

/** Whether runner takes it as `zone`. */
export const takesZone = (zone: string) => /^[A-Za-z0-9+_/-]{1,60}$/.test(zone) && isZone(zone);

/** The server's own zone, which its cron uses. */
export function zoneHere(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return takesZone(zone) && !/^(?:Etc\/)?(?:UTC|UCT|GMT|Zulu|Universal)$/.test(zone) ? zone : 'UTC';
}

/** `patterns` are valid; several are alternatives. undefined: no single job has these times. */
export function timesOf(patterns: readonly string[], zone: string): JobTimes | undefined {
  const every = patterns.length === 1 ? intervalOf(patterns[0] as string, zone) : undefined;
  if (every !== undefined) return { every };
  const at = patterns.flatMap((pattern) => clockTimesOf(pattern) ?? []);
  const own: JobTimes = zone === 'UTC' ? {} : { zone };
  if (at.length > 0 && at.length <= TIMES_MAX && patterns.every(clockTimesOf))
    return { at: at.length === 1 ? (at[0] as string) : at, ...own };
  return patterns.length === 1 ? { cron: patterns[0] as string, ...own } : undefined;
}

/** `15m`, where the same minutes are meant: `every` counts in UTC. */
function intervalOf(pattern: string, zone: string): string | undefined {
  const [minutes = '', hours = '', ...others] = pattern.split(' ');
  if (others.some((field) => field !== '*')) return undefined;
  if (hours === '*') {
    const step = stepOf(valuesOf(minutes, 0), 60);
    if (step === undefined || shiftsOf(zone).some((shift) => shift % step !== 0)) return undefined;
    return step === 60 ? '1h' : `${step}m`;
  }
  const step = stepOf(valuesOf(hours, 1), 24);
  return zone === 'UTC' && minutes === '0' && step !== undefined && step < 24
    ? `${step}h`
    : undefined;
}

/** The distance of values that are spread over the whole evenly, from 0. */
function stepOf(values: readonly number[] = [], whole: number): number | undefined {
  const step = whole / values.length;
  return values.length > 0 && values.every((value, at) => value === at * step) ? step : undefined;
}

/** Minutes of an hour that the zone is away from UTC, in winter and in summer. */
function shiftsOf(zone: string): number[] {
  const minute = new Intl.DateTimeFormat('en', { timeZone: zone, minute: 'numeric' });
  return [0, 6].map((month) => Number(minute.format(Date.UTC(2026, month))));
}

/** `mon-fri 03:00` of each time of a day; undefined for days of a month. */
function clockTimesOf(pattern: string): string[] | undefined {
  const [minutes = '', hours = '', day, month, weekday = ''] = pattern.split(' ');
  const [all, clock] = [valuesOf(minutes, 0) ?? [], valuesOf(hours, 1) ?? []];
  if (day !== '*' || month !== '*' || all.length * clock.length > TIMES_MAX) return undefined;
  const days = daysOf(valuesOf(weekday, 4) ?? []);
  const two = (value: number) => String(value).padStart(2, '0');
  return clock.flatMap((hour) => all.map((minute) => `${days}${two(hour)}:${two(minute)}`));
}

function daysOf(values: readonly number[]): string {
  const days = [...new Set(values.map((day) => day || 7))].sort((a, b) => a - b);
  if (days.length === 7) return '';
  const [first = 0] = days;
  const isRange = days.length > 2 && days.every((day, at) => day === first + at);
  const named = isRange ? [days[0], days.at(-1)] : days;
  return `${named.map((day) => DAYS[day as number]).join(isRange ? '-' : ',')} `;
}
