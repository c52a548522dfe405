/** The schedule of a line of a crontab. */

const NAMED = /^@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAYS = 'sun mon tue wed thu fri sat'.split(' ');
const FIELDS: readonly { least: number; most: number; names: readonly string[] }[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 7, names: DAYS },
];

/** A line of a crontab. */
export interface CronJob {
  readonly schedule: string;
  readonly command: string;
}

/** The parts of a line; undefined if its schedule is none. */
export function jobOf(line: string): CronJob | undefined {
  const words = line.trim().split(/\s+/);
  const count = NAMED.test(words[0] ?? '') ? 1 : FIELDS.length;
  const fields = words.slice(0, count);
  if (count > 1 && !(fields.length === count && fields.every(isField))) return undefined;
  const command = new RegExp(`^(?:\\S+\\s+){${count}}(.*)$`, 's').exec(line.trim())?.[1] ?? '';
  return command === '' ? undefined : { schedule: fields.join(' '), command };
}

function isField(text: string, index: number): boolean {
  return text.split(',').every((part) => {
    const [range = '', step, more] = part.split('/');
    if (more !== undefined || (step !== undefined && !/^[1-9]\d{0,2}$/.test(step))) return false;
    if (range === '*') return true;
    const ends = range.split('-').map((each) => numberOf(each, index));
    const [first, last = first] = ends;
    return ends.length <= 2 && first !== undefined && last !== undefined && first <= last;
  });
}

function numberOf(text: string, index: number): number | undefined {
  const { least, most, names } = FIELDS[index] as (typeof FIELDS)[number];
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + least : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
