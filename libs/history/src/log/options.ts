/** Parses option values: times (ISO 8601, or how long ago) and numbers of lines. */
import { RECORDED_TYPES } from '@runner/common/audit/events';
import { invalidValue } from '@runner/common/foundation/failure';
import { timeOfIso } from '@runner/common/text/time';

/** The option of commands that concern the deploys of a period. */
export const SINCE = {
  placeholder: 'TIME',
  about: 'Only deploys that started at this time or later',
} as const;

/** The option of commands that concern events of certain kinds. */
export const EVENT = {
  placeholder: 'EVENT',
  choices: RECORDED_TYPES,
  list: true,
  about: 'Only events of this kind, or of these: A,B',
} as const;

const DAY = 86_400_000;

/** Which deploys a command is about, and where their records come from. */
export const DEPLOYS_OF = {
  app: { about: 'Only deploys of this app' },
  input: { choices: ['-'], about: 'Read the records from standard input, not from the log' },
} as const;

/** The words of a command line: the first may be the second. */
interface DeploysOf {
  readonly app: string | undefined;
  readonly input: string | undefined;
}

/** The app whose deploys are wanted, and whether their records are on standard input. */
export function deploysOf({ app, input }: DeploysOf): {
  readonly project: string | undefined;
  readonly isPiped: boolean;
} {
  return { project: app === '-' ? undefined : app, isPiped: app === '-' || input === '-' };
}

/** For `needsRoot`: records in a pipe may come from another server. */
export const readsLog = (words: DeploysOf): boolean => !deploysOf(words).isPiped;

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY,
  w: 7 * DAY,
};

/** Limit of `--lines`: all of these records are kept in memory. */
const LINES_MAX = 100_000;

const DATE =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Reads `2h`, `7d` (that long before now, at most since 1970), `today`, `yesterday` or ISO 8601, in UTC unless it has a
 * zone. A day alone means its first moment, or with `end` its last. Milliseconds since 1970. Throws `usage`, naming the option.
 */
export function timeOf(text: string, option: string, now: Date, end = false): number {
  const ago = /^(\d{1,9})([smhdw])$/.exec(text);
  if (ago) return Math.max(0, now.getTime() - Number(ago[1]) * (UNITS[ago[2] as string] as number));
  const clockTime = CLOCK.test(text) ? lastAt(text, now) : undefined;
  if (clockTime !== undefined) return clockTime;
  const daysAgo = ['today', 'yesterday'].indexOf(text);
  const day = new Date(now.getTime() - daysAgo * DAY).toISOString().slice(0, 10);
  const [, date, time, zone] = DATE.exec(daysAgo < 0 ? text : day) ?? [];
  const clock = time ?? (end ? '23:59:59.999' : '00:00');
  const found = timeOfIso(`${date}T${clock}${zone ?? ''}`);
  if (!Number.isNaN(found)) return found;
  throw invalidValue(
    text,
    `--${option} <TIME>`,
    'it must be a time such as 2026-05-04T09:30Z, a date, or how long ago: 30m, 2h, 7d',
  );
}

/** A time of the day. */
const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** When it was this time of the day last, in UTC. */
function lastAt(clock: string, now: Date): number {
  const today = Date.parse(`${now.toISOString().slice(0, 10)}T${clock}:00Z`);
  return today <= now.getTime() ? today : today - DAY;
}

/** The period from the value of `--since` to now. Throws `usage`. */
export function periodSince(text: string, now: Date): { since: number; until: number } {
  const period = { since: timeOf(text, 'since', now), until: now.getTime() };
  if (period.since < period.until) return period;
  throw invalidValue(text, '--since <TIME>', 'it must lie in the past');
}

/** Reads the value of `--lines`. Throws `usage`. */
export function lineCount(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= LINES_MAX) return Number(text);
  throw invalidValue(text, '--lines <N>', `it must be a whole number up to ${LINES_MAX}`);
}
