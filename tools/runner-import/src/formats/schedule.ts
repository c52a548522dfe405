/** The schedule of a line of a crontab. */

const NAMED = new Map([
  ['@reboot', '@reboot'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
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
  /** Five fields, or `@reboot`. */
  readonly schedule: string;
  readonly command: string;
}

/** The parts of a line; undefined if its schedule is not one. */
export function jobOf(line: string): CronJob | undefined {
  const words = line.trim().split(/\s+/);
  const named = NAMED.get(words[0] ?? '');
  const count = named === undefined ? FIELDS.length : 1;
  const fields = words.slice(0, count);
  const isOne = fields.length === count && fields.every((each, at) => valuesOf(each, at));
  if (named === undefined && !isOne) return undefined;
  const command = new RegExp(`^(?:\\S+\\s+){${count}}(.*)$`, 's').exec(line.trim())?.[1] ?? '';
  return command === '' ? undefined : { schedule: named ?? fields.join(' '), command };
}

/** The values of the field at `index`, ascending; undefined if it is not one. Sunday is 0 or 7. */
export function valuesOf(text: string, index: number): number[] | undefined {
  const { least, most } = FIELDS[index] as (typeof FIELDS)[number];
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step = '1', more] = part.split('/');
    const [from = '', to = from, third] =
      range === '*' ? [`${least}`, `${most}`] : range.split('-');
    const [first, last] = [numberOf(from, index), numberOf(to, index)];
    // Crons read a step of a single number differently.
    const isSteps = /^[1-9]\d{0,2}$/.test(step) && (!part.includes('/') || range !== from);
    if (more !== undefined || third !== undefined || !isSteps) return undefined;
    if (first === undefined || last === undefined || first > last) return undefined;
    for (let value = first; value <= last; value += Number(step)) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}

function numberOf(text: string, index: number): number | undefined {
  const { least, most, names } = FIELDS[index] as (typeof FIELDS)[number];
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + least : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
