/** A time as ISO 8601, without what Date does for it. */

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
