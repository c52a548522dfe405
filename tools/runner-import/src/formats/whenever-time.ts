/** The times of whenever as cron's five fields, exactly as the gem writes them. */
import type { SourceValue } from '../plan/entry.ts';
import { LiteralReader } from '../read/ruby-literal.ts';
import { jobOf } from './schedule.ts';

/** Minutes. */
const UNITS = new Map([
  ['minute', 1],
  ['hour', 60],
  ['day', 1_440],
  ['week', 10_080],
  ['month', 43_200],
  ['year', 525_960],
]);
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** Far more than a person writes for one block. */
const PATTERNS_MAX = 50;
const CLOCK = /^(\d{1,2})(?::(\d\d))?\s*(?:([ap])\.?m\.?)?$/i;

interface ClockTime {
  readonly hour: number;
  readonly minute: number;
}

/** Every frequency at every time; undefined if one of them is not understood. */
export function patternsOf(
  frequency: string,
  ats: readonly SourceValue[],
  hours24: boolean,
): string[] | undefined {
  const texts: SourceValue[] = ats.flatMap<SourceValue>((at) =>
    typeof at === 'string' ? at.split(',') : (at ?? []),
  );
  const clocks = (texts.length > 0 ? texts : [0]).map((at) =>
    typeof at === 'number' ? at : clockOf(String(at).trim(), hours24),
  );
  const names = namesOf(frequency);
  if (names.length * clocks.length > PATTERNS_MAX) return undefined;
  const patterns = names.flatMap((name) =>
    clocks.map((at) => (at === undefined ? undefined : patternOf(name, at))),
  );
  const known = patterns.filter((pattern) => pattern !== undefined);
  return known.length > 0 && known.length === patterns.length ? [...new Set(known)] : undefined;
}

/** `2.days`, or the texts of a symbol, a text or a list of them. */
function namesOf(frequency: string): string[] {
  if (/^\d+\.[a-z]+$/.test(frequency)) return [frequency];
  const value = new LiteralReader(frequency, new Map()).whole();
  return [value].flat().flatMap((each) => {
    if (typeof each !== 'string') return [''];
    return jobOf(`${each} x`) ? [each] : each.split(',').map((part) => part.trim());
  });
}

/** A time of the day; without am or pm, and without a 0 before it, it is from 6:00 to 17:59. */
function clockOf(text: string, hours24: boolean): ClockTime | undefined {
  if (/^(?:noon|midnight)$/i.test(text)) return { hour: /n$/i.test(text) ? 12 : 0, minute: 0 };
  const [, hours = '', minutes, half] = CLOCK.exec(text) ?? [];
  const [hour, minute] = [Number(hours), Number(minutes ?? 0)];
  if (hours === '' || hour > 23 || minute > 59 || (minutes ?? half) === undefined) return undefined;
  if (half !== undefined) {
    const isPm = half.toLowerCase() === 'p';
    if (hour > 12 || (hour === 0 && isPm)) return undefined;
    return { hour: (hour % 12) + (isPm ? 12 : 0), minute };
  }
  const isPm = !hours24 && !hours.startsWith('0') && hour < 6;
  return { hour: isPm ? hour + 12 : hour, minute };
}

function patternOf(name: string, at: ClockTime | number): string | undefined {
  const raw = jobOf(`${/^[a-z]+$/.test(name) ? `@${name}` : name} x`)?.schedule;
  if (raw !== undefined) return at === 0 ? raw : undefined;
  const { hour, minute } = typeof at === 'number' ? { hour: 0, minute: 0 } : at;
  const weekday = weekdayOf(name);
  if (weekday !== undefined) return `${minute} ${hour} * * ${weekday}`;
  const [, count = '1', unit = ''] = /^(?:(\d{1,4})\.)?([a-z]+?)s?$/.exec(name) ?? [];
  const length = Number(count) * (UNITS.get(unit) ?? 0);
  const own = typeof at === 'number' ? at : undefined;
  if (length < 1 || (own !== undefined && (own < 0 || own > 23))) return undefined;
  if (length < 60) return at === 0 ? `${spread(length, 59, 0)} * * * *` : undefined;
  if (length < 1_440) return `${own ?? minute} ${spread(Math.round(length / 60), 23, 0)} * * *`;
  if (length < 43_200)
    return `${minute} ${own ?? hour} ${spread(Math.round(length / 1_440), 31, 1)} * *`;
  if (own !== undefined && own !== 0) return undefined;
  if (length < 525_960)
    return `${minute} ${hour} 1 ${spread(Math.round(length / 43_200), 12, 1)} *`;
  return length === 525_960 ? `${minute} ${hour} 1 1 *` : undefined;
}

function weekdayOf(name: string): string | undefined {
  const text = name.toLowerCase();
  if (!/^[a-z]+$/.test(text) || UNITS.has(text)) return undefined;
  if (text.includes('weekday')) return '1-5';
  if (text.includes('weekend')) return '6,0';
  const day = DAYS.findIndex((each) => text.includes(each));
  return day === -1 ? undefined : String(day);
}

/** whenever starts after 0 where the frequency does not divide the whole, and drops what would be late. */
function spread(frequency: number, most: number, least: number): string {
  if (frequency === 1) return '*';
  if (frequency > Math.ceil(most * 0.5)) return String(frequency);
  const isEven = (most + 1) % frequency === 0 || least > 0;
  const values: number[] = [];
  for (let value = isEven ? least : least + frequency; value <= most; value += frequency)
    values.push(value);
  const max = Math.round(most / frequency) + (least === 0 ? 1 : 0);
  return values.slice(0, max).join(',');
}
