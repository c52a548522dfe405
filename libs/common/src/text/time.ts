/** Times as ISO 8601, read without the time zone of the machine; and lengths of time. */

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:(Z)|([+-]\d\d):?(\d\d))?)?$/i;

/** By far the most common form, that of our own records, on a day that every month has. */
const USUAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Whether a text is a time as `toISOString` writes it; false for some days at the end of a month. */
export function isUsualTime(text: string): boolean {
  return USUAL.test(text);
}

/**
 * An ISO 8601 time in milliseconds since 1970, in UTC unless it names a zone. NaN for any other text,
 * and for a day that the month does not have, which Date would move to the next month.
 */
export function timeOfIso(text: string): number {
  if (USUAL.test(text)) return Date.parse(text);
  const [, year, month, day, clock = '00:00', , hours, minutes] = ISO.exec(text) ?? [];
  if (year === undefined || Number(day) > daysOf(Number(year), Number(month))) return Number.NaN;
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  return Date.parse(`${year}-${month}-${day}T${clock}${zone}`);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** A time converted to UTC; without a zone it is UTC. Any other text is returned unchanged. */
export function inUtc(text: string): string {
  if (/Z$/i.test(text)) return text;
  const time = timeOfIso(text);
  const utc = Number.isNaN(time) ? '' : new Date(time).toISOString();
  // Years beyond 9999 would be longer.
  return utc.length === 24 ? utc : text;
}

/** `2026-05-04 09:30:12 UTC`; anything else stays as it is. */
export function utcText(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC');
}

/** `0.8 s`, `12 s`, `1 m 05 s`, `2 h 00 m`; empty for what is not a number of milliseconds. */
export function durationText(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return '';
  if (value < 9_950) return `${(value / 1000).toFixed(1)} s`;
  const seconds = Math.round(value / 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} m`;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `30m` in milliseconds; a bare number is seconds. */
export function durationOf(text: string): number | undefined {
  const match = /^(\d+)(ms|s|m|h)?$/.exec(text);
  return match ? Number(match[1]) * (UNITS[match[2] ?? 's'] as number) : undefined;
}

/** A wait in words: `40 s`, `9 min`. */
export function inWords(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
