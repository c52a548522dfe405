/** Times as ISO 8601: made without what Date does for it, read without the zone of whoever reads. */

const DAY_MS = 86_400_000;

const digits = (value: number, width: number) => String(value).padStart(width, '0');

/**
 * A time in milliseconds since 1970, as in `Date.toISOString()`, for the years 0 to 9999. The first text
 * that Date makes in a process looks up the time zone, which UTC does not need: a hundredth of a start.
 * The calendar is counted in years that begin in March, so that a leap day is the last of its year.
 */
export function isoTime(time: number): string {
  const days = Math.floor(time / DAY_MS);
  const sinceMarchOfYear0 = days + 719_468;
  const era = Math.floor(sinceMarchOfYear0 / 146_097);
  const dayOfEra = sinceMarchOfYear0 - era * 146_097;
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const rest = time - days * DAY_MS;
  const parts = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60];
  const clock = parts.map((part) => digits(Math.floor(part), 2)).join(':');
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${clock}.${digits(rest % 1000, 3)}Z`;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:(Z)|([+-]\d\d):?(\d\d))?)?$/i;
/** What Date reads as it stands: what nearly all writers write. */
const USUAL = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * The time of an ISO 8601 text in milliseconds since 1970; in UTC where it names no zone. NaN for any
 * other text, and for a day that the month does not have, which Date takes for one of the next.
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

/** The years 0 to 9999, in milliseconds since 1970. */
const FIRST = -62_167_219_200_000;
const LAST = 253_402_300_799_999;

/** A time as it was written, in UTC where it named another zone, or none; other texts as they are. */
export function inUtc(text: string): string {
  if (/Z$/i.test(text)) return text;
  const time = timeOfIso(text);
  return time >= FIRST && time <= LAST ? isoTime(time) : text;
}
