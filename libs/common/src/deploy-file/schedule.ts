/**
 * When a job is due. Pure: the same schedule and time give the same answer on every server. A time of
 * the day in an hour that a clock skips or doubles counts once.
 */
import { Cron } from 'croner';

/** When a job is due; JSON. */
export type Schedule =
  /** At whole multiples of `ms` since 1970, in UTC. */
  | { readonly kind: 'every'; readonly ms: number }
  /** Patterns of cron's five fields, in a zone of the tz database. */
  | { readonly kind: 'times'; readonly patterns: readonly string[]; readonly zone: string }
  /** After each deploy that succeeded. */
  | { readonly kind: 'deploy' };

/** Of a day of the month and one of the week either is enough, as in cron; but one that begins with `*` narrows the other. */
export function wantsBothDays(pattern: string): boolean {
  return /^(?:\S+\s+){2}(?:\S+\s+\S+\s+)?\*/.test(pattern.trim());
}

/** The first time after `after` at which it is due; undefined if there is none. */
export function nextDue(schedule: Schedule, after: Date): Date | undefined {
  if (schedule.kind === 'deploy') return undefined;
  if (schedule.kind === 'every') {
    const { ms } = schedule;
    return new Date((Math.floor(after.getTime() / ms) + 1) * ms);
  }
  const times = schedule.patterns.flatMap((pattern) => {
    const [timezone, domAndDow] = [schedule.zone, wantsBothDays(pattern)];
    const cron = new Cron(pattern, { timezone, domAndDow, paused: true, mode: '5-part' });
    return cron.nextRun(after)?.getTime() ?? [];
  });
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

export function nextTimes(schedule: Schedule, after: Date, count: number): Date[] {
  const times: Date[] = [];
  let at = nextDue(schedule, after);
  for (; at && times.length < count; at = nextDue(schedule, at)) times.push(at);
  return times;
}

/** The times after `after` up to `until` at which it is due, at most `max` of them, the oldest first. */
export function dueTimes(schedule: Schedule, after: Date, until: Date, max: number): Date[] {
  const times: Date[] = [];
  for (let at = nextDue(schedule, after); at && at <= until; at = nextDue(schedule, at)) {
    times.push(at);
    if (times.length >= max) break;
  }
  return times;
}

/** What is wrong with cron's five fields in a zone; undefined if they have a next time. */
export function wrongWithPattern(pattern: string, zone: string): string | undefined {
  if (!isZone(zone)) return `there is no time zone '${zone}': write one like Europe/Berlin`;
  try {
    const schedule: Schedule = { kind: 'times', patterns: [pattern], zone };
    return nextDue(schedule, new Date()) ? undefined : `'${pattern}' is never due`;
  } catch {
    return `'${pattern}' is not a schedule of cron's five fields`;
  }
}

/** Whether the tz database has it. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
